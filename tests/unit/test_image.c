/* The image format: round trips, deltas, and that no flipped or missing byte goes unnoticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <image/abi.h>
#include <image/bundle.h>
#include <image/folder.h>
#include <image/image.h>
#include <mend/error.h>

struct bytes {
    uint8_t *at;
    size_t count, room;
};

static int append(void *context, const void *bytes, size_t count)
{
    struct bytes *b = context;
    if (b->count + count > b->room) {
        b->room = 2 * (b->count + count);
        b->at = realloc(b->at, b->room);
    }
    memcpy(b->at + b->count, bytes, count);
    b->count += count;
    return 0;
}

static mend_image_region regions[3];
static uint8_t stream[40000];

static mend_image_head sample(int64_t version)
{
    regions[0] = (mend_image_region){.id = -4, .offset = 100, .bytes = 10000, .label = "first"};
    regions[1] = (mend_image_region){.id = 2, .offset = 12288, .bytes = 0, .label = "empty"};
    regions[2] = (mend_image_region){.id = 9,
                                     .offset = 16384,
                                     .bytes = 23616,
                                     .flags = MEND_REGION_GLOBAL,
                                     .global_offset = 5,
                                     .global_total = 30000,
                                     .label = "global"};
    return (mend_image_head){.kind = MEND_IMAGE_DATA,
                             .name = "sample",
                             .version = version,
                             .save_id = 77 + (uint64_t)version,
                             .rank = 1,
                             .ranks = 3,
                             .base_version = -1,
                             .block = 4096,
                             .region_count = 3,
                             .stream_bytes = sizeof stream,
                             .regions = regions};
}

static void fill(unsigned seed)
{
    for (size_t i = 0; i < sizeof stream; i++)
        stream[i] = (uint8_t)(i < 20000 ? (i * seed) >> 3 : 7);
}

static struct bytes image_bytes(const mend_image_head *head, int compress, const uint64_t *blocks)
{
    struct bytes b = {0};
    uint64_t written = 0;
    mend_image_write_options o = {.compress = compress, .blocks = blocks};
    assert_int_equal(mend_image_write(head, stream, &o, (mend_sink){append, &b}, &written), 0);
    assert_int_equal(written, b.count);
    return b;
}

static void round_trip(void **state)
{
    (void)state;
    for (int compress = 0; compress < 4; compress += 3) {
        mend_image *image = NULL;
        uint8_t back[sizeof stream];
        mend_image_head head = sample(5);
        fill(3);
        struct bytes b = image_bytes(&head, compress, NULL);
        assert_true(b.count <= mend_image_bound(&head));
        assert_int_equal(mend_image_open(mend_source_memory(b.at, b.count), &image), 0);
        assert_int_equal(mend_image_verify(image), 0);
        assert_int_equal(mend_image_read(image, 0, back, sizeof back), 0);
        assert_memory_equal(back, stream, sizeof back);
        for (size_t at = 0; at < sizeof stream; at += 997) {
            size_t n = (at * 31) % 9000;
            if (n > sizeof stream - at)
                n = sizeof stream - at;
            assert_int_equal(mend_image_read(image, at, back, n), 0);
            assert_memory_equal(back, stream + at, n);
        }
        assert_int_equal(mend_image_read(image, 39999, back, 2), MEND_ERR_ARGUMENT);
        const mend_image_region *r = mend_image_find_region(image, 9);
        assert_non_null(r);
        assert_string_equal(r->label, "global");
        assert_null(mend_image_find_region(image, 1));
        mend_image_close(image);
        free(b.at);
    }
}

/* As an image of memory is written: some blocks as they lie there, others in a buffer that is used again. */
static uint8_t reused[4096];
static const uint8_t *fetch_some(void *context, uint64_t at, size_t count)
{
    (void)context;
    if (at / 4096 % 3 != 1)
        return stream + at;
    return memcpy(reused, stream + at, count);
}

/* No block stays. */
static const uint8_t *fetch_each(void *context, uint64_t at, size_t count)
{
    (void)context;
    return memcpy(memset(reused, 77, sizeof reused), stream + at, count);
}

/* However the blocks come, and whoever computes their sums, the file is the same. */
static void any_fetch(void **state)
{
    (void)state;
    const mend_image_write_options ways[] = {
        {.fetch = fetch_some, .second_thread = true, .reused = reused},
        {.fetch = fetch_some, .reused = reused},
        {.fetch = fetch_each, .reused = reused},
        {.fetch = fetch_each},
    };
    for (int i = 0; i < 200; i++) {
        mend_image_head head = sample(i);
        struct bytes b = {0};
        mend_image_write_options o = ways[i % 4];
        fill(3 + (unsigned)i);
        struct bytes want = image_bytes(&head, 0, NULL);
        assert_int_equal(mend_image_write(&head, NULL, &o, (mend_sink){append, &b}, NULL), 0);
        assert_int_equal(b.count, want.count);
        assert_memory_equal(b.at, want.at, b.count);
        free(b.at);
        free(want.at);
    }
}

/* Opening and reading everything, as a restore does. 0 only if every byte came back right. */
static int read_all(const uint8_t *bytes, size_t count)
{
    mend_image *image = NULL;
    uint8_t back[sizeof stream];
    int rc = mend_image_open(mend_source_memory(bytes, count), &image);
    if (rc)
        return rc;
    rc = mend_image_verify(image);
    if (rc == 0 && mend_image_info(image)->stream_bytes == sizeof stream)
        rc = mend_image_read(image, 0, back, sizeof back);
    if (rc == 0)
        assert_memory_equal(back, stream, sizeof back);
    mend_image_close(image);
    return rc;
}

static void every_byte_flipped(void **state)
{
    (void)state;
    for (int compress = 0; compress < 2; compress++) {
        mend_image_head head = sample(5);
        fill(3);
        struct bytes b = image_bytes(&head, compress, NULL);
        for (size_t i = 0; i < b.count; i++) {
            uint8_t bit = (uint8_t)(1u << (i % 8));
            b.at[i] ^= bit;
            assert_true(read_all(b.at, b.count) < 0);
            b.at[i] ^= bit;
            b.at[i] ^= 0xFF;
            assert_true(read_all(b.at, b.count) < 0);
            b.at[i] ^= 0xFF;
        }
        assert_int_equal(read_all(b.at, b.count), 0);
        free(b.at);
    }
}

static void every_truncation(void **state)
{
    (void)state;
    mend_image_head head = sample(5);
    fill(3);
    struct bytes b = image_bytes(&head, 0, NULL);
    for (size_t n = 0; n < b.count; n += n < 600 || n + 600 > b.count ? 1 : 37)
        assert_true(read_all(b.at, n) < 0);
    uint8_t *longer = calloc(1, b.count + 10);
    memcpy(longer, b.at, b.count);
    assert_true(read_all(longer, b.count + 10) < 0);
    free(longer);
    free(b.at);
}

static void deltas(void **state)
{
    (void)state;
    struct bytes files[4];
    uint8_t versions[4][sizeof stream];
    mend_image *images[4];

    fill(3);
    for (int v = 0; v < 4; v++) {
        uint64_t changed = 0;
        mend_image_head head = sample(v);
        if (v) {
            for (int i = 0; i < 3; i++) {
                int block = (v * 5 + i * 2) % 10;
                changed |= 1u << block;
                memset(stream + block * 4096, 16 * v + i,
                       block == 9 ? sizeof stream - 9 * 4096 : 4096);
            }
            head.base_version = v - 1;
            head.base_id = 77 + (uint64_t)v - 1;
        }
        memcpy(versions[v], stream, sizeof stream);
        files[v] = image_bytes(&head, v % 2, v ? &changed : NULL);
        assert_true(v == 0 || files[v].count < 15000);
    }
    for (int v = 0; v < 4; v++) {
        uint8_t back[sizeof stream];
        for (int i = v; i >= 0; i--)
            assert_int_equal(
                mend_image_open(mend_source_memory(files[i].at, files[i].count), &images[i]), 0);
        if (v) {
            assert_true(mend_image_read(images[v], 0, back, sizeof back) <
                        0); /* without its base */
            assert_true(mend_image_verify(images[v]) < 0);
        }
        for (int i = 1; i <= v; i++)
            assert_int_equal(mend_image_set_base(images[i], images[i - 1]), 0);
        assert_int_equal(mend_image_verify(images[v]), 0);
        assert_int_equal(mend_image_read(images[v], 0, back, sizeof back), 0);
        assert_memory_equal(back, versions[v], sizeof back);
        mend_image_close(images[v]);
    }
    assert_int_equal(mend_image_open(mend_source_memory(files[0].at, files[0].count), &images[0]),
                     0);
    assert_int_equal(mend_image_open(mend_source_memory(files[2].at, files[2].count), &images[2]),
                     0);
    assert_int_equal(mend_image_set_base(images[2], images[0]),
                     MEND_ERR_DAMAGED); /* not its base */
    mend_image_close(images[0]);
    mend_image_close(images[2]);
    for (int v = 0; v < 4; v++)
        free(files[v].at);
}

/* Several readers of one image and its base: each has what the first has, in whatever order they are asked. */
static void readers(void **state)
{
    (void)state;
    mend_image_head whole = sample(4), delta = sample(5);
    delta.base_version = 4;
    delta.base_id = whole.save_id;
    uint64_t few = 1ull << 1 | 1ull << 6;
    fill(3);
    struct bytes a = image_bytes(&whole, 0, NULL);
    for (size_t i = 0; i < sizeof stream; i++)
        if (few >> (i / 4096) & 1)
            stream[i] ^= 0x55;
    struct bytes b = image_bytes(&delta, 1, &few);
    mend_image *base, *image, *other;
    uint8_t one[5000], two[5000];
    assert_int_equal(mend_image_open(mend_source_memory(a.at, a.count), &base), 0);
    assert_int_equal(mend_image_raw_at(base), mend_image_head_bytes(3));
    assert_int_equal(mend_image_open(mend_source_memory(b.at, b.count), &image), 0);
    assert_int_equal(mend_image_raw_at(image), 0); /* not all of it is there */
    assert_int_equal(mend_image_set_base(image, base), 0);
    assert_int_equal(mend_image_share(image, &other), 0);
    assert_int_equal(mend_image_chain(other), 1);
    for (uint64_t at = 0; at + sizeof one <= sizeof stream; at += 1234) {
        uint64_t back = sizeof stream - sizeof two - at;
        assert_int_equal(mend_image_read(image, at, one, sizeof one), 0);
        assert_int_equal(mend_image_read(other, back, two, sizeof two), 0);
        assert_memory_equal(one, stream + at, sizeof one);
        assert_memory_equal(two, stream + back, sizeof two);
    }
    a.at[mend_image_raw_at(base) + 3 * 4096] ^= 1;
    mend_image_close(other); /* the first one is as good as before */
    assert_int_equal(mend_image_read(image, 0, one, sizeof one), 0);
    assert_int_equal(mend_image_read(image, 3 * 4096, one, sizeof one), MEND_ERR_DAMAGED);
    mend_image_close(image);
    free(a.at);
    free(b.at);
}

static void bad_heads(void **state)
{
    (void)state;
    mend_image_head head = sample(1);
    uint8_t *bytes;
    size_t n;
    regions[2].offset = 9000; /* overlaps */
    assert_int_equal(mend_image_pack_head(&head, &bytes, &n), MEND_ERR_DAMAGED);
    head = sample(1);
    regions[2].bytes = 40000;
    assert_int_equal(mend_image_pack_head(&head, &bytes, &n), MEND_ERR_DAMAGED);
    head = sample(1);
    regions[2].global_offset = 29000;
    assert_int_equal(mend_image_pack_head(&head, &bytes, &n), MEND_ERR_DAMAGED);
    head = sample(1);
    head.block = 5000;
    assert_int_equal(mend_image_pack_head(&head, &bytes, &n), MEND_ERR_DAMAGED);
    head = sample(1);
    head.rank = 3;
    assert_int_equal(mend_image_pack_head(&head, &bytes, &n), MEND_ERR_DAMAGED);
}

static void another_byte_order(void **state)
{
    (void)state;
    mend_image_head head = sample(1), back;
    const uint8_t little[] = {4, 3, 2, 1}, big[] = {1, 2, 3, 4};
    uint8_t *bytes;
    size_t n;
    assert_int_equal(mend_image_pack_head(&head, &bytes, &n), 0);
    assert_memory_equal(bytes + 12, little, 4); /* what is on disk is so on every machine */
    memcpy(bytes + 12, big, 4);
    assert_int_equal(mend_image_unpack_head(bytes, n, &back), MEND_ERR_ARCHITECTURE);
    free(bytes);
}

static void names(void **state)
{
    (void)state;
    mend_file f, g = {MEND_FILE_PARITY, 12, 340, 0xabcdef0123456789u};
    char name[MEND_FILE_NAME_MAX];
    mend_file_name(&g, name);
    assert_string_equal(name, "parity-r12-v340-abcdef0123456789.img");
    assert_true(mend_file_parse(name, &f) && memcmp(&f, &g, sizeof f) == 0);
    const char *wrong[] = {"",
                           "own",
                           "own-r1-v2.img",
                           "own-r01-v2-0000000000000001.img",
                           "own-r1-v-2-0000000000000001.img",
                           "mine-r1-v2-0000000000000001.img",
                           "own-r1-v2-0000000000000001.img.tmp-1-1",
                           "own-r-1-v2-0000000000000001.img",
                           "own-r1-v2-000000000000000A.img",
                           "../own-r1-v2-0000000000000001.img"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(mend_file_parse(wrong[i], &f));
}

/* What belongs to others, or hides behind a link, is not read. */
static void strangers(void **state)
{
    (void)state;
    char dir[] = "/tmp/mend-image-XXXXXX", path[200], link_path[200];
    mend_image *image = NULL;
    mend_file *files = NULL;
    int count = 0;

    assert_non_null(mkdtemp(dir));
    mend_image_head head = sample(5);
    fill(3);
    struct bytes b = image_bytes(&head, 0, NULL);
    snprintf(path, sizeof path, "%s/own-r1-v5-000000000000004%x.img", dir, 82 % 16);
    FILE *f = fopen(path, "w");
    fwrite(b.at, 1, b.count, f);
    fclose(f);
    chmod(path, 0600);
    assert_int_equal(mend_image_open_file(path, &image), 0);
    mend_image_close(image);
    snprintf(link_path, sizeof link_path, "%s/link.img", dir);
    assert_int_equal(symlink(path, link_path), 0);
    assert_true(mend_image_open_file(link_path, &image) < 0);
    chmod(path, 0666);
    assert_int_equal(mend_image_open_file(path, &image), MEND_ERR_PERMISSION);
    chmod(path, 0600);
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 12345, 12345), 0);
        assert_int_equal(mend_image_open_file(path, &image), MEND_ERR_PERMISSION);
        assert_int_equal(chown(path, 0, 0), 0);
        assert_int_equal(chown(dir, 12345, 12345), 0);
        assert_int_equal(mend_folder_list(dir, &files, &count), MEND_ERR_PERMISSION);
        assert_int_equal(chown(dir, 0, 0), 0);
    }
    assert_int_equal(mend_folder_list(dir, &files, &count), 0);
    assert_int_equal(count, 1);
    free(files);
    chmod(dir, 0777);
    assert_int_equal(mend_folder_list(dir, &files, &count), MEND_ERR_PERMISSION);
    chmod(dir, 0700);
    unlink(link_path);
    snprintf(link_path, sizeof link_path, "%s-link", dir);
    assert_int_equal(symlink(dir, link_path), 0);
    assert_int_equal(mend_folder_list(link_path, &files, &count), MEND_ERR_PERMISSION);
    unlink(link_path);
    unlink(path);
    rmdir(dir);
    free(b.at);
}

/* An image carries the job that wrote it, and no other job opens it. */
static void jobs(void **state)
{
    (void)state;
    mend_image_job mine = {"a1", MEND_ABI_MPICH, "heat", 7, 8}, none = {0}, other = mine, back;
    mend_image_head head = sample(5);
    mend_image *image = NULL;
    char text[MEND_JOB_TEXT];
    fill(3);
    mend_image_belong_to(&mine);
    struct bytes b = image_bytes(&head, 0, NULL);
    assert_int_equal(mend_image_open(mend_source_memory(b.at, b.count), &image), 0);
    assert_memory_equal(&mend_image_info(image)->job, &mine, sizeof mine);
    mend_image_close(image);
    for (int what = 0; what < 5; what++) {
        other = mine;
        if (what == 0)
            strcpy(other.id, "b2");
        other.build += what == 1;
        other.arguments += what == 2;
        if (what == 3) /* which program is not known: any build of this job's */
            other.build = other.arguments = 0;
        if (what == 4) /* of a Mend that did not know the ABI */
            other.abi = MEND_ABI_UNKNOWN;
        mend_image_belong_to(&other);
        int rc = mend_image_open(mend_source_memory(b.at, b.count), &image);
        assert_int_equal(rc, what >= 3 ? 0 : MEND_ERR_ARCHITECTURE);
        if (rc == 0)
            mend_image_close(image);
        if (what == 0)
            assert_non_null(
                strstr(mend_error_text(), "belongs to job a1 (program heat), this is job b2"));
    }
    mend_image_belong_to(&none); /* a tool */
    assert_int_equal(mend_image_open(mend_source_memory(b.at, b.count), &image), 0);
    mend_image_close(image);
    free(b.at);
    b = image_bytes(&head, 0, NULL); /* of a program's own store */
    mend_image_belong_to(&mine);
    assert_int_equal(mend_image_open(mend_source_memory(b.at, b.count), &image),
                     MEND_ERR_ARCHITECTURE);
    mend_image_belong_to(&none);
    free(b.at);

    mend_image_job_text(&mine, text);
    assert_int_equal(mend_image_job_parse(text, &back), 0);
    assert_memory_equal(&back, &mine, sizeof mine);
    assert_int_equal(mend_image_job_sum(&back), mend_image_job_sum(&mine));
    assert_true(mend_image_job_sum(&none) == 0 &&
                mend_image_job_sum(&mine) != mend_image_job_sum(&none));
    other = mine;
    other.build++;
    assert_true(mend_image_job_sum(&mine) != mend_image_job_sum(&other));
    other = mine; /* the ABI is for people: an image that does not name it is of the same job */
    other.abi = MEND_ABI_UNKNOWN;
    assert_int_equal(mend_image_job_sum(&other), mend_image_job_sum(&mine));
    mend_image_job_text(&other, text);
    assert_null(strstr(text, "mpich"));
    assert_int_equal(mend_image_job_parse(text, &back), 0);
    assert_memory_equal(&back, &other, sizeof other);
    static const char *const wrong[] = {"",
                                        "a",
                                        "a 1",
                                        "a 1 2",
                                        "a x 2 p",
                                        "a 1 2 p q",
                                        "a 1 2 p mpich q",
                                        "a 1 2 p ",
                                        "a 1 2 p\nq",
                                        "a 1 2 p\nmpich",
                                        "0123456789012345678901234567890123456789 1 2 p",
                                        "a\x01 1 2 p",
                                        "a 1 2 \xc3\xa4"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(mend_image_job_parse(wrong[i], &back), MEND_ERR_ARGUMENT);
    mend_image_job_name(&back, "/bin/a b\xc3");
    assert_string_equal(back.program, "a_b_");
    char *one[] = {"ab", "c", NULL}, *two[] = {"a", "bc", NULL};
    assert_true(mend_image_job_arguments(one) != mend_image_job_arguments(two));
    assert_true(mend_image_job_build("/proc/self/exe") != 0 &&
                mend_image_job_build("/nowhere") == 0 && mend_image_job_build("/dev/zero") == 0);
}

static void abis(void **state)
{
    (void)state;
    for (unsigned i = MEND_ABI_OPENMPI; i <= MEND_ABI_STANDARD; i++) {
        assert_int_equal(mend_abi_parse(mend_abi_name(i)), i);
        assert_non_null(mend_abi_title(i));
    }
    assert_true(!mend_abi_name(0) && !mend_abi_name(4) && !mend_abi_title(4));
    assert_int_equal(mend_abi_parse("other"), MEND_ABI_UNKNOWN);
    assert_int_equal(mend_abi_of_program("/nowhere"), MEND_ABI_UNKNOWN);
    assert_int_equal(mend_abi_of_program("/dev/zero"), MEND_ABI_UNKNOWN);
    assert_int_equal(mend_abi_of_program("/bin/sh"), MEND_ABI_OPENMPI); /* it names none */
}

static void bundles(void **state)
{
    (void)state;
    mend_bundle_entry entries[] = {{0, 0, 100}, {1, 4096, 50}, {5, 8192, 1}}, *back = NULL;
    uint8_t *tail = NULL, file[20000] = {0};
    size_t length = 0;
    uint64_t count, id;
    int64_t version;
    assert_int_equal(mend_bundle_tail(entries, 3, 8193, 9, 44, &tail, &length), 0);
    memcpy(file + 8193, tail, length);
    size_t bytes = 8193 + length;
    assert_int_equal(
        mend_bundle_open(mend_source_memory(file, bytes), &back, &count, &version, &id), 0);
    assert_true(count == 3 && version == 9 && id == 44 &&
                memcmp(back, entries, sizeof entries) == 0);
    free(back);
    for (size_t i = 8193; i < bytes; i++) {
        file[i] ^= 4;
        assert_true(
            mend_bundle_open(mend_source_memory(file, bytes), &back, &count, &version, &id) < 0);
        file[i] ^= 4;
    }
    for (size_t n = 0; n < bytes; n++)
        assert_true(mend_bundle_open(mend_source_memory(file, n), &back, &count, &version, &id) <
                    0);
    free(tail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(any_fetch),
        cmocka_unit_test(every_byte_flipped),
        cmocka_unit_test(every_truncation),
        cmocka_unit_test(deltas),
        cmocka_unit_test(bad_heads),
        cmocka_unit_test(names),
        cmocka_unit_test(strangers),
        cmocka_unit_test(bundles),
        cmocka_unit_test(another_byte_order),
        cmocka_unit_test(jobs),
        cmocka_unit_test(abis),
        cmocka_unit_test(readers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
