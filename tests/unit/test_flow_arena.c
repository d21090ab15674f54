/* The automatic tier's heap: blocks keep their content, do not overlap, are zero when they are new, and a
 * copy of the range is a copy of the heap. All of it as on a kernel with pages of 64 KiB, the largest
 * there are. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "automatic/arena.h"

enum { BLOCKS = 600, ROUNDS = 12000, PAGE = 64 << 10 };

/* Instead of the C library's: begin at a page, end at a page, as such a kernel does it. */
static int on_pages(long call, void *from, size_t bytes, int how)
{
    if ((uintptr_t)from % PAGE) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(call, from, (bytes + PAGE - 1) / PAGE * PAGE, how);
}

int mprotect(void *from, size_t bytes, int protection)
{
    return on_pages(SYS_mprotect, from, bytes, protection);
}

int madvise(void *from, size_t bytes, int advice)
{
    return on_pages(SYS_madvise, from, bytes, advice);
}

static struct block {
    unsigned char *at;
    size_t bytes;
    unsigned char fill;
} blocks[BLOCKS];

static uint64_t state = 88172645463325252u;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static size_t some_bytes(void)
{
    size_t kind = draw() % 100;
    return kind < 70 ? draw() % 300 : kind < 95 ? draw() % 40000 : draw() % 3000000;
}

static void check_block(const struct block *b)
{
    for (size_t i = 0; i < b->bytes; i++)
        if (b->at[i] != b->fill)
            fail_msg("byte %zu of %zu at %p is %u, not %u", i, b->bytes, (void *)b->at, b->at[i],
                     b->fill);
}

static void take(struct block *b)
{
    b->bytes = some_bytes();
    size_t alignment = draw() % 10 ? 16 : (size_t)32 << draw() % 8;
    b->at = arena_take_aligned(alignment, b->bytes);
    assert_non_null(b->at);
    assert_int_equal((size_t)b->at % alignment, 0);
    assert_true(arena_holds(b->at) && arena_room(b->at) >= b->bytes);
    b->fill = 0;
    check_block(b);
    b->fill = (unsigned char)(draw() % 255 + 1);
    memset(b->at, b->fill, b->bytes);
}

static void resize(struct block *b)
{
    size_t bytes = some_bytes(), kept = bytes < b->bytes ? bytes : b->bytes;
    b->at = arena_resize(b->at, bytes);
    assert_non_null(b->at);
    b->bytes = kept;
    check_block(b);
    b->bytes = bytes;
    memset(b->at, b->fill, bytes);
}

static void step(void)
{
    struct block *b = &blocks[draw() % BLOCKS];
    if (!b->at) {
        take(b);
        return;
    }
    check_block(b);
    if (draw() % 4 == 0) {
        resize(b);
        return;
    }
    arena_give(b->at);
    b->at = NULL;
}

static void blocks_keep_their_content(void **unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++)
        step();
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].at)
            check_block(&blocks[i]);
}

/* What a version does: copy, go on, put back. */
static void a_copy_is_a_copy(void **unused)
{
    (void)unused;
    struct block then[BLOCKS];
    size_t bytes = arena_bytes();
    void *copy = malloc(bytes);
    assert_non_null(copy);
    memcpy(copy, arena_base(), bytes);
    memcpy(then, blocks, sizeof then);
    for (int i = 0; i < ROUNDS / 4; i++)
        step();
    assert_int_equal(arena_set_bytes(bytes), 0);
    memcpy(arena_base(), copy, bytes);
    memcpy(blocks, then, sizeof then);
    free(copy);
    for (int i = 0; i < ROUNDS / 4; i++)
        step();
}

static void memory_comes_back(void **unused)
{
    (void)unused;
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].at)
            arena_give(blocks[i].at);
    size_t before = arena_bytes();
    for (int i = 0; i < 1000; i++) {
        void *a = arena_take(5000000), *b = arena_take(100);
        assert_true(a && b);
        arena_give(a);
        arena_give(b);
    }
    assert_true(arena_bytes() <= before + (16 << 20));
    assert_null(arena_take(SIZE_MAX - 5));
    assert_null(arena_take((size_t)1 << 50));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_keep_their_content),
        cmocka_unit_test(a_copy_is_a_copy),
        cmocka_unit_test(memory_comes_back),
    };
    if (arena_open())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
