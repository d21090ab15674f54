/* What an image says of itself is checked; which pages go into one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "images/image.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mend/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct image_meta meta;
static struct mapping maps[3];
static struct run runs[3];
static struct named_file files[1];
static char names[8];

/* Two mappings, one of them of a file; three runs, one of them in the base: whole. */
static void a_whole_one(void)
{
    uint64_t page = ground.page_size, at = UPPER_ARENA;
    maps[0] = (struct mapping){.from = at, .to = at + 64 * page, .prot = 3};
    maps[1] =
        (struct mapping){.from = at + 100 * page, .to = at + 110 * page, .prot = 5, .file = 1};
    runs[0] = (struct run){at, at + 2 * page, 0};
    runs[1] = (struct run){at + 4 * page, at + 5 * page, 1};
    runs[2] = (struct run){at + 100 * page, at + 101 * page, 0};
    files[0] = (struct named_file){.bytes = 5, .name = 1};
    memcpy(names, "?/a.so\0", sizeof names);
    meta = (struct image_meta){.mappings = 2,
                               .runs = 3,
                               .bytes = 3 * page,
                               .files = 1,
                               .names = sizeof names,
                               .upper = (struct upper *)(at + page),
                               .tid_address = (int *)at,
                               .steering = {UPPER_ARENA + 200 * page, UPPER_BREAK + page}};
}

static void assert_refused(void)
{
    assert_int_equal(image_meta_check(&meta, maps, runs, files, names), MEND_ERR_DAMAGED);
    a_whole_one();
    assert_int_equal(image_meta_check(&meta, maps, runs, files, names), 0);
}

static void metadata(void **state)
{
    (void)state;
    a_whole_one();
    assert_int_equal(image_meta_check(&meta, maps, runs, files, names), 0);
    maps[0].from++; /* no page */
    assert_refused();
    maps[1].from = maps[0].from; /* they overlap */
    assert_refused();
    maps[1].to = UPPER_END + ground.page_size; /* the lower half's */
    assert_refused();
    maps[0].prot = 8;
    assert_refused();
    runs[1].to = maps[1].from; /* it leaves its mapping */
    assert_refused();
    runs[1] = runs[0]; /* twice */
    assert_refused();
    runs[2].in_base = 2;
    assert_refused();
    meta.bytes++;
    assert_refused();
    meta.upper = (struct upper *)(maps[1].to - 8); /* it ends outside */
    assert_refused();
    meta.tid_address = NULL;
    assert_refused();
    meta.steering.cursor = 0;
    assert_refused();
    meta.steering.break_now = UPPER_END;
    assert_refused();
    maps[0].file = 2; /* there is one */
    assert_refused();
    maps[1].shared = 1; /* what is shared is stored */
    assert_refused();
    maps[1].offset = 1; /* no page */
    assert_refused();
    maps[1].offset = 1ull << 63;
    assert_refused();
    files[0].name = 8; /* behind the names */
    assert_refused();
    files[0].name = 0; /* not a whole path */
    assert_refused();
    files[0].bytes = 1ull << 63;
    assert_refused();
    names[7] = 'x'; /* they have no end */
    assert_refused();
    meta.names = 0;
    assert_refused();
}

static void pages(void **state)
{
    (void)state;
    enum { PAGES = 8 };
    char *memory = mmap(NULL, PAGES * ground.page_size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct mapping map = {
        .from = UPPER_ARENA, .to = UPPER_ARENA + PAGES * ground.page_size, .prot = 3};
    struct stretch stretch = {map.from, map.to, 0, memory - (char *)UPPER_ARENA};
    struct survey survey = {
        .meta.mappings = 1, .mappings = &map, .stretches = &stretch, .count = 1, .pages = PAGES};
    struct selection first, second;
    struct page_sums base = {.version = -1};
    memory[0] = 1;                           /* page 0 */
    memory[ground.page_size] = 2;            /* page 1 */
    memory[5 * ground.page_size + 4000] = 3; /* page 5, late in it */

    assert_int_equal(selection_prepare(&first, &survey, NULL, 1), 0);
    assert_int_equal(selection_make(&first, 0), 0);
    assert_int_equal(first.found->runs, 2);
    assert_int_equal(first.found->bytes, 3 * ground.page_size);
    assert_int_equal(first.runs[0].to - first.runs[0].from, 2 * ground.page_size);
    assert_int_equal(first.runs[1].from, UPPER_ARENA + 5 * ground.page_size);
    selection_keep(&first, 1, 77, &base);

    memory[1 * ground.page_size + 8] = 9; /* one changes, one comes, one goes */
    memory[2 * ground.page_size] = 4;
    memory[5 * ground.page_size + 4000] = 0;
    assert_int_equal(selection_prepare(&second, &survey, &base, 1), 0);
    assert_int_equal(selection_make(&second, 0), 0);
    assert_int_equal(second.found->runs, 2);
    assert_int_equal(second.found->bytes, 2 * ground.page_size);
    assert_int_equal(second.runs[0].in_base, 1);
    assert_int_equal(second.runs[0].to, UPPER_ARENA + ground.page_size);
    assert_int_equal(second.runs[1].in_base, 0);
    assert_int_equal(second.runs[1].to - second.runs[1].from, 2 * ground.page_size);
    selection_free(&second);
    page_sums_free(&base);
    munmap(memory, PAGES * ground.page_size);
}

/* In a mapping of a file a page of zeros is content, too: where there is none, the file's bytes would be. */
static void zeros_over_a_file(void **state)
{
    (void)state;
    char *memory = mmap(NULL, 4 * ground.page_size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct mapping map = {
        .from = UPPER_ARENA, .to = UPPER_ARENA + 4 * ground.page_size, .prot = 3, .file = 1};
    struct stretch stretch = {map.from + ground.page_size, map.from + 3 * ground.page_size, 0,
                              memory - (char *)UPPER_ARENA};
    struct survey survey = {
        .meta.mappings = 1, .mappings = &map, .stretches = &stretch, .count = 1, .pages = 2};
    struct selection p;
    assert_int_equal(selection_prepare(&p, &survey, NULL, 0), 0);
    assert_int_equal(selection_make(&p, 0), 0);
    assert_int_equal(p.found->runs, 1);
    assert_int_equal(p.found->bytes, 2 * ground.page_size);
    selection_free(&p);
    munmap(memory, 4 * ground.page_size);
}

static int add_page(void *sum, uint64_t from, uint64_t to)
{
    for (; from < to; from += ground.page_size)
        *(uint64_t *)sum = *(uint64_t *)sum * 100 + (from & 0xfffff) / ground.page_size + 1;
    return 0;
}

/* A file of eight pages, mapped: one is read, two are written, one of them behind PROT_NONE now. */
static void written_pages(void **state)
{
    (void)state;
    char name[] = "/tmp/mend-pages-XXXXXX";
    int fd = mkstemp(name), pagemap = pagemap_open();
    size_t room = 2 << 20;
    if (pagemap < 0)
        skip();
    unlink(name);
    assert_int_equal(ftruncate(fd, (off_t)(8 * ground.page_size)), 0);
    char *area = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *at = (char *)(((uintptr_t)area + 0xfffff) & ~(uintptr_t)0xfffff);
    volatile char *page =
        mmap(at, 8 * ground.page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0);
    assert_ptr_equal(page, at);
    uint64_t from = (uint64_t)at, to = from + 8 * ground.page_size, seen = 0;
    (void)page[2 * ground.page_size];
    page[3 * ground.page_size] = 1;
    page[6 * ground.page_size] = 1;
    assert_int_equal(mprotect(at + 6 * ground.page_size, ground.page_size, PROT_NONE), 0);
    assert_int_equal(pagemap_pages(pagemap, from, to, PAGES_WRITTEN, add_page, &seen), 0);
    assert_int_equal(seen, 407);
    assert_int_equal(madvise(at + 3 * ground.page_size, ground.page_size, MADV_DONTNEED), 0);
    seen = 0;
    assert_int_equal(pagemap_pages(pagemap, from, to, PAGES_WRITTEN, add_page, &seen), 0);
    assert_int_equal(seen, 7);
    munmap(area, room);
    close(fd);
    close(pagemap);
}

enum { PAGES = 1400, STRETCHES = 4 };
struct stretches {
    uint64_t page[2 * STRETCHES];
    int n;
};
static char *area;
static int add_stretch(void *list, uint64_t from, uint64_t to)
{
    struct stretches *s = list;
    if (s->n == 2 * STRETCHES)
        return 1;
    s->page[s->n++] = (from - (uint64_t)area) / ground.page_size;
    s->page[s->n++] = (to - (uint64_t)area) / ground.page_size;
    return 0;
}

/* Pages 0 to 599 and 700 to 1399 without 1300. */
static int are_touched_pages(int pagemap)
{
    static const uint64_t want[] = {0, 600, 700, 1300, 1301, 1400};
    struct stretches s = {.n = 0};
    uint64_t from = (uint64_t)area, to = from + PAGES * ground.page_size;
    return pagemap_pages(pagemap, from, to, PAGES_TOUCHED, add_stretch, &s) == 0 && s.n == 6 &&
           memcmp(s.page, want, sizeof want) == 0;
}

/* As before Linux 6.7: nobody answers PAGEMAP_SCAN. */
static int refuse_ioctl(void)
{
    struct sock_filter rule[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog filter = {sizeof rule / sizeof *rule, rule};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

/* Anonymous memory with gaps: the kernel's stretches, and word by word, where whole pieces are known to be in memory. */
static void touched_pages(void **state)
{
    (void)state;
    int pagemap = pagemap_open(), status;
    if (pagemap < 0)
        skip();
    area = mmap(NULL, PAGES * ground.page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
    assert_ptr_not_equal(area, MAP_FAILED);
    madvise(area, PAGES * ground.page_size, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAGES; i++)
        if (i < 600 || (i >= 700 && i != 1300))
            area[i * ground.page_size] = 1;
    assert_true(are_touched_pages(pagemap));
    pid_t child = fork();
    if (child == 0)
        _exit(refuse_ioctl() ? 77 : !are_touched_pages(pagemap));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
    munmap(area, PAGES * ground.page_size);
    close(pagemap);
}

static int setup(void **state)
{
    (void)state;
    ground.page_size = (size_t)sysconf(_SC_PAGESIZE);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata), cmocka_unit_test(pages), cmocka_unit_test(zeros_over_a_file),
        cmocka_unit_test(written_pages), cmocka_unit_test(touched_pages)};
    return cmocka_run_group_tests(tests, setup, NULL);
}
