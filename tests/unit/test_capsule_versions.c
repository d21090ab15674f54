/* Which versions are kept, and from which one a job could be resumed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ground/settings.h"
#include "images/image.h"
#include "scratch.h"
#include "versions/versions.h"

#include <mend/error.h>
#include <sys/stat.h>

struct lower lower;
struct settings settings;

/* A small image of this rank: version, save id, and what it is based on (-1: nothing). */
static int sink(void *f, const void *bytes, size_t count)
{
    return fwrite(bytes, 1, count, f) == count ? 0 : MEND_ERR_IO;
}
static void put_image(const char *folder, enum mend_file_kind kind, int rank, int ranks,
                      int64_t version, uint64_t id, int64_t base, uint64_t base_id)
{
    uint8_t stream[64] = {1, 2, 3};
    char name[MEND_FILE_NAME_MAX], path[600];
    mend_image_region region = {.id = 1, .offset = 0, .bytes = sizeof stream, .label = "x"};
    mend_image_head head = {.kind = MEND_IMAGE_DATA,
                            .name = IMAGE_NAME,
                            .version = version,
                            .save_id = id,
                            .rank = rank,
                            .ranks = ranks,
                            .base_version = base,
                            .base_id = base_id,
                            .block = 4096,
                            .region_count = 1,
                            .stream_bytes = sizeof stream,
                            .regions = &region};
    uint64_t bytes;
    mend_file file = {kind, rank, version, id};
    mend_file_name(&file, name);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(mend_image_write(&head, stream, NULL, (mend_sink){sink, f}, &bytes), 0);
    assert_int_equal(fclose(f), 0);
}

static const char *folder_of(const char *name)
{
    const char *path = in_scratch(name);
    mkdir(path, 0700);
    return path;
}

static int files_in(const char *folder)
{
    mend_file *files = NULL;
    int count = 0;
    assert_int_equal(mend_folder_list(folder, &files, &count), 0);
    free(files);
    return count;
}

/* Full images at 1 and 4, incremental ones after them; two are kept. */
static void chains_are_kept_whole(void **state)
{
    (void)state;
    struct retention g = {.keep = 2};
    assert_int_equal(retention_add(&g, 1, 1, 1), 0);
    assert_int_equal(retention_root(&g, 2, 1), 1);
    assert_int_equal(retention_add(&g, 2, 2, 1), 1); /* 2 needs 1 */
    assert_int_equal(retention_add(&g, 3, 3, 1), 1);
    assert_int_equal(retention_root(&g, 4, -1), 4);
    assert_int_equal(retention_add(&g, 4, 4, 4), 1); /* 3 is kept and needs 1 */
    assert_int_equal(retention_add(&g, 5, 5, 4), 4); /* now 1, 2, 3 can go */
    retention_free(&g);
}

/* As many as the user wants, and all of them. */
static void a_thousand_are_kept(void **state)
{
    (void)state;
    struct retention g = {.keep = 1000};
    for (int v = 1; v < 1000; v++)
        assert_int_equal(retention_add(&g, v, 1, v), 0);
    assert_int_equal(retention_add(&g, 1000, 1, 1000), 1);
    assert_int_equal(retention_add(&g, 1001, 1, 1001), 2);
    assert_int_equal(g.count, 1000);
    assert_int_equal(g.kept[0].version, 2);
    assert_int_equal(g.kept[999].version, 1001);
    retention_free(&g);
}

static void what_a_former_run_has_left(void **state)
{
    (void)state;
    char folder[300];
    snprintf(folder, sizeof folder, "%s", folder_of("left"));
    for (int r = 0; r < 2; r++) {
        put_image(folder, MEND_FILE_GLOBAL, r, 2, 1, 10, -1, 0);
        put_image(folder, MEND_FILE_GLOBAL, r, 2, 2, 20, 1, 10);
    }
    put_image(folder, MEND_FILE_GLOBAL, 0, 2, 3, 30, -1, 0); /* rank 1 has died before its own */
    struct retention g;
    retention_look(&g, folder, MEND_FILE_GLOBAL, 5, -1);
    assert_int_equal(g.count, 2);
    assert_int_equal(g.kept[1].version, 2);
    assert_int_equal(g.kept[1].root, 1);
    assert_int_equal(retention_newest(&g), 3); /* its number is not used again */
    retention_remove_one(&g, 3, 30);
    assert_int_equal(files_in(folder), 4);
    retention_remove_later(folder, 1, 1);
    assert_int_equal(files_in(folder), 3);
    retention_remove_below(&g, 2);
    assert_int_equal(files_in(folder), 1);
    retention_free(&g);
}

/* The other rank of two, as the collective operations see it. */
static struct candidate theirs[4];
static int their_count;
static bool alone; /* a world of one rank */
static int all_reduce(const void *s, void *r, int n, handle_t t, handle_t op, handle_t c)
{
    (void)n, (void)t, (void)op, (void)c;
    int mine = *(const int *)s;
    *(int *)r = mine > their_count ? mine : their_count;
    return 0;
}
static int all_gather(const void *s, int sn, handle_t st, void *r, int rn, handle_t rt, handle_t c)
{
    (void)st, (void)rt, (void)c;
    struct candidate *second = (void *)((char *)r + rn);
    memcpy(r, s, (size_t)sn);
    if (alone)
        return 0;
    memset(second, 0, (size_t)rn);
    memcpy(second, theirs, (size_t)their_count * sizeof *theirs);
    ((struct candidate *)((char *)second + rn))[-1].version = their_count;
    return 0;
}

static void only_what_all_have(void **state)
{
    (void)state;
    char folder[300];
    struct candidates c = {0};
    lower.Allreduce = all_reduce;
    lower.Allgather = all_gather;
    snprintf(folder, sizeof folder, "%s", folder_of("versions"));
    put_image(folder, MEND_FILE_GLOBAL, 0, 2, 1, 10, -1, 0);
    put_image(folder, MEND_FILE_GLOBAL, 0, 2, 2, 20, 1, 10);
    put_image(folder, MEND_FILE_GLOBAL, 0, 2, 3, 30, -1, 0);
    put_image(folder, MEND_FILE_GLOBAL, 0, 2, 4, 40, 2, 99); /* its base is gone */
    theirs[0] = (struct candidate){1, 10, 0};
    theirs[1] = (struct candidate){2, 20, 0};
    theirs[2] = (struct candidate){3, 31, 0}; /* of another attempt */
    theirs[3] = (struct candidate){4, 40, 0};
    their_count = 4;
    assert_int_equal(candidates_find(&c, folder, -1, 0, 2), 0);
    assert_int_equal(c.count, 2);
    assert_int_equal(c.list[0].version, 2);
    assert_int_equal(c.list[1].version, 1);
    mend_image *image;
    assert_int_equal(candidates_open(&c, 0, 0, &image), 0);
    mend_image_close(image);
    free(c.list);

    c = (struct candidates){0};
    assert_int_equal(candidates_find(&c, folder, 3, 0, 2), MEND_ERR_NO_VERSION);
    free(c.list);
    c = (struct candidates){0};
    alone = true;
    assert_int_equal(candidates_find(&c, folder, -1, 0, 1), MEND_ERR_RANK_COUNT);
    alone = false;
    free(c.list);
}

static void a_nodes_own_folder_comes_first(void **state)
{
    (void)state;
    char folder[300];
    struct candidates c = {0};
    snprintf(folder, sizeof folder, "%s", folder_of("far"));
    snprintf(settings.local, sizeof settings.local, "%s", folder_of("near"));
    put_image(folder, MEND_FILE_GLOBAL, 0, 2, 1, 10, -1, 0);
    put_image(settings.local, MEND_FILE_OWN, 0, 2, 2, 20, -1, 0);
    theirs[0] = (struct candidate){1, 10, 0};
    theirs[1] = (struct candidate){2, 20, 0};
    their_count = 2;
    assert_int_equal(candidates_find(&c, folder, -1, 0, 2), 0);
    assert_int_equal(c.count, 2);
    assert_int_equal(c.list[0].version, 2);
    assert_int_equal(candidates_listed(folder, 2), 0);
    assert_int_equal(candidates_listed(folder, 1), 1);
    free(c.list);
    settings.local[0] = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_are_kept_whole),          cmocka_unit_test(a_thousand_are_kept),
        cmocka_unit_test(what_a_former_run_has_left),     cmocka_unit_test(only_what_all_have),
        cmocka_unit_test(a_nodes_own_folder_comes_first),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
