/* Images in memory: versions share what has not changed, what is told of a new one is what changed, and any byte that is
 * wrong is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "images/image.h"
#include "images/paged.h"
#include "images/pool.h"
#include "images/track.h"

#include <base/fault.h>
#include <mend/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 1000 };
static char *memory, *stage;
static struct upper *upper;

int survey_take(struct survey *s, struct upper *u, int tracked) /* not the process of this test */
{
    (void)s, (void)u, (void)tracked;
    return MEND_ERR_UNSUPPORTED;
}

void survey_free(struct survey *s)
{
    (void)s;
}

static char *page(int i)
{
    return memory + (size_t)i * ground.page_size;
}

/* What a survey knows of writes, if it does. */
static struct {
    int tracked;
    struct mend_range *written;
    size_t count;
    uint64_t wrong; /* address that the checker has found */
} known;

static void note_wrong(uint64_t address)
{
    known.wrong = address;
}

static int try_image(struct paged *p, const struct paged *base)
{
    struct mapping map = {
        .from = UPPER_ARENA, .to = UPPER_ARENA + PAGES * ground.page_size, .prot = 3};
    struct stretch stretch = {map.from, map.to, 0, memory - (char *)UPPER_ARENA};
    struct survey survey = {.meta = {.border_version = BORDER_VERSION,
                                     .page_size = ground.page_size,
                                     .mappings = 1,
                                     .size = 1,
                                     .upper = upper},
                            .mappings = &map,
                            .stretches = &stretch,
                            .count = 1,
                            .pages = PAGES,
                            .tracked = known.tracked,
                            .written = known.written,
                            .written_count = known.count};
    const void *tail[] = {"what was", " printed"};
    const size_t bytes[] = {8, 8};
    int rc = paged_of_survey(p, &survey, base);
    if (rc)
        return rc;
    survey_check(&survey, p, note_wrong);
    return paged_set_tail(p, tail, bytes, 2);
}

static struct paged image_of_memory(const struct paged *base)
{
    struct paged p;
    assert_int_equal(try_image(&p, base), 0);
    return p;
}

static void assert_is_memory(const struct paged *p)
{
    struct paged_cursor c = {p, 0, 0};
    assert_int_equal(paged_check(p), 0);
    for (int i = 0; i < PAGES; i++) {
        int64_t there = paged_find(&c, UPPER_ARENA + (size_t)i * ground.page_size);
        assert_int_equal(there < 0, page_is_zero(page(i)));
        if (there < 0)
            continue;
        assert_memory_equal(pool_page(p->slot[there]), page(i), ground.page_size);
        assert_int_equal(paged_put(p, (uint64_t)there, stage, 1, 0, 0), 0);
    }
    assert_memory_equal(p->tail, "what was printed", 16);
}

static uint64_t shared(const struct paged *a, const struct paged *b)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < a->pages; i++)
        for (uint64_t k = 0; k < b->pages; k++)
            n += a->slot[i] == b->slot[k];
    return n;
}

/* As online/delta.c does it. */
static struct paged told(struct paged_delta *out, const struct paged *p, const struct paged *base,
                         const struct paged *copy_of_base)
{
    struct paged copy;
    assert_int_equal(paged_delta_make(out, p, base), 0);
    struct paged_delta in = {.offer = out->offer, .notes = malloc(paged_notes_bytes(&out->offer))};
    memcpy(in.notes, out->notes, paged_notes_bytes(&out->offer));
    assert_int_equal(paged_delta_begin(&in, &copy, copy_of_base), 0);
    for (uint64_t i = 0; i < in.offer.ranges; i++)
        for (uint32_t k = in.ranges[i].first; k < in.ranges[i].first + in.ranges[i].count; k++)
            memcpy(pool_page(copy.slot[k]), pool_page(p->slot[k]), ground.page_size);
    paged_delta_free(&in);
    return copy;
}

static void fill(int step)
{
    for (int i = 0; i < PAGES; i++)
        memset(page(i), i % step ? 1 + i % 200 : 0, ground.page_size);
}

static void one_page_more(void **state)
{
    (void)state;
    static const int places[] = {0, 3, 500, PAGES - 1};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        struct paged_delta d;
        for (int i = 0; i < PAGES; i++)
            memset(page(i), 1 + i % 200, ground.page_size);
        memset(page(places[k]), 0, ground.page_size);
        struct paged old = image_of_memory(NULL), copy = told(&d, &old, NULL, NULL);
        assert_int_equal(d.offer.new_pages, PAGES - 1);
        paged_delta_free(&d);
        assert_is_memory(&copy);
        memset(page(places[k]), 77, ground.page_size);
        struct paged new = image_of_memory(&old);
        assert_int_equal(shared(&new, &old), PAGES - 1);
        struct paged more = told(&d, &new, &old, &copy);
        assert_int_equal(d.offer.new_pages, 1);
        assert_in_range(paged_notes_bytes(&d.offer), 1, ground.page_size / 10);
        paged_delta_free(&d);
        assert_is_memory(&new);
        assert_is_memory(&more);
        assert_int_equal(shared(&more, &copy), PAGES - 1);
        paged_free(&old);
        paged_free(&copy);
        assert_is_memory(&new); /* what is shared stays for who still has it */
        assert_is_memory(&more);
        paged_free(&new);
        paged_free(&more);
    }
}

/* The last version is what it was, whatever is made of the next ones, and memory does not grow. */
static void versions_in_a_row(void **state)
{
    (void)state;
    uint64_t seed = 7, most = 0;
    char *before = malloc(PAGES * ground.page_size);
    fill(3);
    struct paged last = image_of_memory(NULL);
    for (int v = 0; v < 50; v++) {
        memcpy(before, memory, PAGES * ground.page_size);
        for (int i = 0; i < 20; i++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            memset(page((int)((seed >> 20) % PAGES)), (int)(seed >> 60), ground.page_size);
        }
        struct paged next = image_of_memory(&last);
        assert_is_memory(&next);
        char *now = memory;
        memory = before;
        assert_is_memory(&last);
        memory = now;
        paged_free(&last);
        last = next;
        for (uint64_t i = 0; i < last.pages; i++)
            most = last.slot[i] > most ? last.slot[i] : most;
    }
    assert_in_range(most, 0, 4 * PAGES); /* two copies of two in this program, at most */
    paged_free(&last);
    free(before);
}

/* New pages are summed and copied in batches, scattered or not, with pages between them that may change meanwhile and are
 * copied at once. If a copy fails, nothing is left of the version, and the last one is whole. */
static void in_batches(void **state)
{
    (void)state;
    static const int counts[] = {1, 63, 64, 65, 127, 128, 129, PAGES - 1};
    for (size_t k = 0; k < 4 * sizeof counts / sizeof *counts; k++) {
        int n = counts[k / 4], step = k % 2 ? 7 : 1; /* neither divides 997 */
        upper->context.sp = k % 4 < 2 ? 0 : (uint64_t)page(PAGES / 2);
        fill(PAGES);
        memset(page(0), 5, ground.page_size);
        struct paged last = image_of_memory(NULL), next;
        char *before = memcpy(malloc(PAGES * ground.page_size), memory, PAGES * ground.page_size);
        for (int i = 0; i < n; i++)
            page(n < PAGES - 1 ? i * step % 997 : i)[8 * i % 4096] ^= 1;
        mend_fault_configure("io.write:hit=1+:short");
        next = image_of_memory(&last);
        mend_fault_configure(NULL);
        assert_is_memory(&next);
        assert_int_equal(shared(&next, &last), PAGES - n);
        paged_free(&next);
        mend_fault_configure("io.write:hit=1:enospc");
        assert_int_not_equal(try_image(&next, &last), 0);
        mend_fault_configure(NULL);
        next = image_of_memory(&last);
        assert_is_memory(&next);
        char *now = memory;
        memory = before;
        assert_is_memory(&last);
        memory = now;
        paged_free(&last);
        assert_is_memory(&next);
        paged_free(&next);
        free(before);
    }
    upper->context.sp = 0;
}

struct bytes {
    char *at;
    size_t count;
};

static int read_bytes(void *context, uint64_t at, void *to, size_t count)
{
    const struct bytes *b = context;
    assert_true(count <= b->count && at <= b->count - count);
    memcpy(to, b->at + at, count);
    return 0;
}

static void through_a_stream(void **state)
{
    (void)state;
    fill(4);
    struct paged p = image_of_memory(NULL), q;
    struct bytes b = {malloc(paged_bytes(&p)), paged_bytes(&p)};
    for (size_t at = 0, n; at < b.count; at += n) { /* in parts of any length */
        n = b.count - at < 7777 ? b.count - at : 7777;
        assert_int_equal(paged_read(&p, at, b.at + at, n), 0);
    }
    assert_int_equal(paged_from_stream(&q, read_bytes, &b, b.count), 0);
    assert_is_memory(&q);
    paged_free(&q);
    size_t front = b.count - p.pages * ground.page_size,
           used = 40 + p.head_bytes + p.tail_bytes + 8 * p.pages;
    for (size_t at = 0; at < used; at += 3) {
        b.at[at] ^= 4;
        assert_int_not_equal(paged_from_stream(&q, read_bytes, &b, b.count), 0);
        b.at[at] ^= 4;
    }
    for (size_t n = 0; n < b.count; n += 1 + n / 3)
        assert_int_not_equal(paged_from_stream(&q, read_bytes, &b, n), 0);
    b.at[front + 5 * ground.page_size + 9] ^= 1; /* a page: found when it is put to its place */
    assert_int_equal(paged_from_stream(&q, read_bytes, &b, b.count), 0);
    assert_int_equal(paged_put(&q, 4, stage, 1, 0, 0), 0);
    assert_int_equal(paged_put(&q, 5, stage, 1, 0, 0), MEND_ERR_DAMAGED);
    paged_free(&q);
    paged_free(&p);
    free(b.at);
}

/* What has come from elsewhere is not believed: with any bytes changed, it is refused or has all its pages. */
static void wrong_notes(void **state)
{
    (void)state;
    uint64_t seed = 3;
    struct paged_delta d;
    fill(5);
    struct paged old = image_of_memory(NULL), q;
    memset(page(17), 99, 3 * ground.page_size);
    struct paged new = image_of_memory(&old);
    assert_int_equal(paged_delta_make(&d, &new, &old), 0);
    size_t notes = paged_notes_bytes(&d.offer);
    for (int t = 0; t < 500; t++) {
        struct paged_delta in = {.offer = d.offer, .notes = malloc(notes)};
        memcpy(in.notes, d.notes, notes);
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        in.notes[(seed >> 20) % notes] ^= (char)(1 << (seed >> 60) % 8);
        if (paged_delta_begin(&in, &q, &old) == 0) {
            assert_int_equal(paged_check(&q), 0);
            paged_free(&q);
        }
        paged_delta_free(&in);
    }
    struct paged_delta in = {.offer = d.offer, .notes = malloc(notes)};
    memcpy(in.notes, d.notes, notes);
    assert_int_equal(paged_delta_begin(&in, &q, NULL), MEND_ERR_DAMAGED); /* without the base */
    paged_delta_free(&in);
    paged_delta_free(&d);
    assert_is_memory(&new);
    paged_free(&old);
    paged_free(&new);
}

static int setup(void **state)
{
    (void)state;
    ground.page_size = (size_t)sysconf(_SC_PAGESIZE);
    memory = mmap(NULL, PAGES * ground.page_size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stage = malloc(ground.page_size);
    upper = calloc(1, sizeof *upper);
    return memory == MAP_FAILED || !stage || !upper;
}

/* Pages that were not written are not looked at, but only if the base is what memory was like; the checker finds one that
 * was written unseen. */
static void only_what_was_written(void **state)
{
    (void)state;
    struct mend_range written[] = {
        {UPPER_ARENA + 5 * ground.page_size, UPPER_ARENA + 7 * ground.page_size},
        {UPPER_ARENA + 900 * ground.page_size, UPPER_ARENA + PAGES * ground.page_size}};
    if (!track_start())
        skip();
    fill(4);
    known.tracked = 1;
    struct paged first = image_of_memory(NULL);
    page(5)[3]++;
    memset(page(8), 66, ground.page_size); /* it was zero */
    page(998)[0]++;
    known.written = written;
    known.count = 2;
    known.wrong = 0;
    struct paged blind = image_of_memory(&first); /* 8 is not among them */
    assert_int_equal(known.wrong, UPPER_ARENA + 8 * ground.page_size);
    assert_int_equal(shared(&blind, &first), first.pages - 2);
    known.wrong = 0;
    struct paged seen = image_of_memory(&first); /* memory was like `blind` then: all is compared */
    assert_int_equal(known.wrong, 0);
    assert_is_memory(&seen);
    known.count = 0;
    struct paged again = image_of_memory(&seen);
    assert_int_equal(shared(&again, &seen), seen.pages);
    assert_is_memory(&again);
    known.tracked = 0;
    known.written = NULL;
    paged_free(&first);
    paged_free(&blind);
    paged_free(&seen);
    paged_free(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_page_more),     cmocka_unit_test(only_what_was_written),
        cmocka_unit_test(versions_in_a_row), cmocka_unit_test(in_batches),
        cmocka_unit_test(through_a_stream),  cmocka_unit_test(wrong_notes)};
    return cmocka_run_group_tests(tests, setup, NULL);
}
