/* Preloaded: the process that NO_MEMORY names (mend, mend-node) gets no more memory while the file NO_MEMORY_NOW exists. Nor do
 * children that it has forked; the programs that they become do. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static const char *when;

__attribute__((constructor)) static void begin(void)
{
    const char *who = getenv("NO_MEMORY");
    if (!who || strcmp(who, program_invocation_short_name) != 0)
        return;
    when = getenv("NO_MEMORY_NOW");
    unsetenv("LD_PRELOAD");
}

static int none_is_left(void)
{
    int before = errno, none = when && access(when, F_OK) == 0;
    errno = before;
    return none;
}

void *malloc(size_t size)
{
    return none_is_left() ? (errno = ENOMEM, NULL) : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return none_is_left() ? (errno = ENOMEM, NULL) : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return none_is_left() ? (errno = ENOMEM, NULL) : __libc_realloc(old, size);
}
