/* Which pages were written since they were looked at last: whoever wrote them, and whatever was done to the mapping. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "images/track.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 512 };
static int pagemap;
static char *memory;
static char touched[PAGES + 1], written[PAGES + 1]; /* of the last look: 1 or 0 for each page */

static int note(char *where, uint64_t from, uint64_t to)
{
    uint64_t first = (uint64_t)memory;
    assert_true(from >= first && to <= first + PAGES * ground.page_size);
    memset(where + (from - first) / ground.page_size, 1, (to - from) / ground.page_size);
    return 0;
}
static int note_touched(void *none, uint64_t from, uint64_t to)
{
    (void)none;
    return note(touched, from, to);
}
static int note_written(void *none, uint64_t from, uint64_t to)
{
    (void)none;
    return note(written, from, to);
}

/* 0: the kernel has told. */
static int look(void)
{
    memset(touched, 0, sizeof touched);
    memset(written, 0, sizeof written);
    assert_int_equal(track_start(), 1);
    int rc = track_pages(pagemap, (uint64_t)memory, (uint64_t)memory + PAGES * ground.page_size,
                         PAGES_TOUCHED, note_touched, note_written, NULL);
    track_end();
    return rc;
}

static int count(const char *where)
{
    int n = 0;
    for (int i = 0; i < PAGES; i++)
        n += where[i];
    return n;
}

static char *page(int i)
{
    return memory + (size_t)i * ground.page_size;
}

static int begin(void **state) /* all pages there, looked at once */
{
    (void)state;
    if (!memory)
        memory = mmap(NULL, PAGES * ground.page_size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    madvise(memory, PAGES * ground.page_size, MADV_NOHUGEPAGE); /* pages are counted here */
    for (int i = 0; i < PAGES; i++)
        page(i)[7] = (char)(1 + i % 100);
    assert_int_equal(look(), 0);
    assert_int_equal(count(touched), PAGES);
    assert_int_equal(count(written), PAGES); /* it is new: nothing is known of it */
    assert_int_equal(look(), 0);
    assert_int_equal(count(touched), PAGES);
    assert_int_equal(count(written), 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    munmap(memory, PAGES * ground.page_size);
    memory = NULL;
    return 0;
}

static void by_the_program(void **state)
{
    (void)state;
    page(3)[0] = page(200)[4000] = page(511)[1] = 9;
    assert_int_equal(look(), 0);
    assert_int_equal(count(written), 3);
    assert_true(written[3] && written[200] && written[511]);
    assert_int_equal(look(), 0);
    assert_int_equal(count(written), 0);
}

static void by_a_system_call(void **state)
{
    (void)state;
    int two[2];
    assert_int_equal(pipe(two), 0);
    assert_int_equal(write(two[1], "abcdef", 6), 6);
    struct iovec parts[2] = {{page(10), 3}, {page(20), 3}};
    assert_int_equal(readv(two[0], parts, 2), 6);
    close(two[0]);
    close(two[1]);
    int file = open("/proc/self/exe", O_RDONLY);
    assert_int_equal(read(file, page(30), 2 * ground.page_size), 2 * ground.page_size);
    close(file);
    assert_int_equal(look(), 0);
    assert_int_equal(count(written), 4);
    assert_true(written[10] && written[20] && written[30] && written[31]);
}

/* As an MPI library does it for large messages. */
static void by_another_process(void **state)
{
    (void)state;
    pid_t us = getpid(), child = fork();
    if (child == 0) {
        char bytes[] = "from outside";
        struct iovec here = {bytes, sizeof bytes},
                     there = {page(77) + ground.page_size - 4, sizeof bytes};
        _exit(process_vm_writev(us, &here, 1, &there, 1, 0) == sizeof bytes ? 0 : 77);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WEXITSTATUS(status) == 77)
        skip(); /* not allowed here */
    assert_string_equal(page(78) - 4, "from outside");
    assert_int_equal(look(), 0);
    assert_int_equal(count(written), 2);
    assert_true(written[77] && written[78]);
}

static void given_back_and_zero(void **state)
{
    (void)state;
    assert_int_equal(madvise(page(40), 10 * ground.page_size, MADV_DONTNEED), 0);
    page(45)[0] = 1;
    volatile char zero = page(47)[0];
    (void)zero;
    assert_int_equal(look(), 0);
    assert_int_equal(count(touched), PAGES - 8); /* the others are not there */
    assert_int_equal(count(written), 2);
    assert_true(written[45] && written[47]);
}

/* A part that is another mapping now, at the same place. */
static void mapped_anew(void **state)
{
    (void)state;
    void *at = mmap(page(100), 50 * ground.page_size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    assert_ptr_equal(at, page(100));
    page(120)[0] = 1;
    /* the kernel has three mappings: a survey asks about each */
    uint64_t first = (uint64_t)memory, edge[] = {0, 100, 150, PAGES};
    memset(touched, 0, sizeof touched);
    memset(written, 0, sizeof written);
    assert_int_equal(track_start(), 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(track_pages(pagemap, first + edge[i] * ground.page_size,
                                     first + edge[i + 1] * ground.page_size, PAGES_TOUCHED,
                                     note_touched, note_written, NULL),
                         0);
    track_end();
    assert_int_equal(count(touched), PAGES - 49);
    assert_int_equal(count(written), 1);
    assert_true(written[120]);
}

/* Pages that came from elsewhere with their mapping: whatever the kernel has noted of them there, they count as written. */
static void moved_here(void **state)
{
    (void)state;
    char *place =
        mmap(NULL, PAGES * ground.page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_equal(mremap(memory, PAGES * ground.page_size, PAGES * ground.page_size,
                            MREMAP_MAYMOVE | MREMAP_FIXED, place),
                     place);
    memory = place;
    assert_int_equal(look(), 0);
    assert_int_equal(count(written), PAGES);
    page(5)[0] = 1;
    assert_int_equal(look(), 0);
    assert_int_equal(count(written), 1);
}

static void with_other_rights_and_a_child(void **state)
{
    (void)state;
    assert_int_equal(mprotect(memory, PAGES * ground.page_size, PROT_NONE), 0);
    assert_int_equal(mprotect(memory, PAGES * ground.page_size, PROT_READ | PROT_WRITE), 0);
    pid_t child = fork();
    if (child == 0) {
        page(1)[0] = 50; /* its own copy */
        _exit(0);
    }
    page(2)[0] = 60; /* shared with the child until now */
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(look(), 0);
    assert_int_equal(count(written), 1);
    assert_true(written[2]);
}

static uint64_t clean_pages;
static int add_clean(void *none, uint64_t from, uint64_t to)
{
    (void)none;
    clean_pages += (to - from) / ground.page_size;
    return 0;
}

static void what_is_clean(void **state)
{
    (void)state;
    page(9)[0] = 2;
    assert_int_equal(madvise(page(40), 10 * ground.page_size, MADV_DONTNEED), 0);
    uint64_t from = (uint64_t)memory, to = from + PAGES * ground.page_size;
    for (int twice = 0; twice < 2; twice++) { /* asking changes nothing */
        clean_pages = 0;
        assert_int_equal(track_clean(pagemap, from, to, add_clean, NULL), 0);
        assert_int_equal(clean_pages, PAGES - 11);
    }
    end(NULL);
    memory = mmap((void *)from, PAGES * ground.page_size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    memset(memory, 1, PAGES * ground.page_size);
    clean_pages = 0;
    assert_true(track_clean(pagemap, from, to, add_clean, NULL) || clean_pages == 0);
}

/* A mapping that changes all over is left alone for 1, 2, 4… looks; then one begins to note, and the next decides. */
static void pauses(void **state)
{
    (void)state;
    int told[8];
    for (int i = 0; i < 8; i++) {
        memset(memory, i, PAGES * ground.page_size);
        told[i] = !look();
        if (told[i])
            assert_int_equal(count(written), PAGES);
    }
    static const int expected[8] = {1, 0, 1, 1, 0, 0, 1, 1};
    assert_memory_equal(told, expected, sizeof expected);
}

static void devices(void **state)
{
    (void)state;
    static const char *const some[] = {"/dev/fuse", "/dev/net/tun", "/dev/loop-control",
                                       "/dev/kvm",  "/dev/rtc",     "/dev/hpet"};
    int fd = -1;
    for (size_t i = 0; i < sizeof some / sizeof *some && fd < 0; i++)
        fd = open(some[i], O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        skip();
    track_memory_is(7);
    assert_int_equal(track_start(), 0);
    assert_int_equal(track_image(), 0);
    close(fd);
    assert_int_equal(track_start(), 1);
}

int main(void)
{
    ground.page_size = (size_t)sysconf(_SC_PAGESIZE);
    pagemap = pagemap_open();
    if (pagemap < 0 || !track_start())
        return 77; /* this kernel does not tell */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(by_the_program, begin, end),
        cmocka_unit_test_setup_teardown(by_a_system_call, begin, end),
        cmocka_unit_test_setup_teardown(by_another_process, begin, end),
        cmocka_unit_test_setup_teardown(given_back_and_zero, begin, end),
        cmocka_unit_test_setup_teardown(mapped_anew, begin, end),
        cmocka_unit_test_setup_teardown(moved_here, begin, end),
        cmocka_unit_test_setup_teardown(with_other_rights_and_a_child, begin, end),
        cmocka_unit_test_setup_teardown(what_is_clean, begin, end),
        cmocka_unit_test_setup_teardown(pauses, begin, end),
        cmocka_unit_test(devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
