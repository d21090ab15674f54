#include <image/bundle.h>

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include <base/fail.h>

#define MAGIC "MENDBUN"

struct foot {
    char magic[8];
    uint32_t format, reserved;
    uint64_t index_offset, index_count, index_sum;
    uint64_t file_bytes;
    int64_t version;
    uint64_t save_id;
    uint64_t sum;
};

_Static_assert(sizeof(struct foot) == 72 && sizeof(mend_bundle_entry) == 24, "no hidden padding");

int mend_bundle_tail(const mend_bundle_entry *entries, uint64_t count, uint64_t end,
                     mend_version_t version, uint64_t save_id, uint8_t **bytes, size_t *length)
{
    size_t table = count * sizeof *entries, n = table + sizeof(struct foot);
    uint8_t *p = malloc(n);
    if (!p)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the index of a bundle");
    struct foot foot = {
        .magic = MAGIC,
        .format = 1,
        .index_offset = end,
        .index_count = count,
        .index_sum = XXH3_64bits(entries, table),
        .file_bytes = end + n,
        .version = version,
        .save_id = save_id,
    };
    foot.sum = XXH3_64bits(&foot, offsetof(struct foot, sum));
    memcpy(p, entries, table);
    memcpy(p + table, &foot, sizeof foot);
    *bytes = p;
    *length = n;
    return 0;
}

static int check_foot(const struct foot *foot, uint64_t bytes)
{
    if (memcmp(foot->magic, MAGIC, sizeof foot->magic) != 0)
        return mend_fail(MEND_ERR_TRUNCATED,
                         "the file has no footer: it is truncated or not a bundle");
    if (foot->sum != XXH3_64bits(foot, offsetof(struct foot, sum)))
        return mend_fail(MEND_ERR_DAMAGED, "the bundle's footer has a wrong checksum");
    if (foot->format != 1)
        return mend_fail(MEND_ERR_FORMAT, "a bundle of format %u", foot->format);
    if (foot->file_bytes != bytes || foot->index_offset > bytes ||
        foot->index_count > bytes / sizeof(mend_bundle_entry) || foot->version < 0 ||
        foot->index_offset + foot->index_count * sizeof(mend_bundle_entry) + sizeof *foot != bytes)
        return mend_fail(MEND_ERR_DAMAGED, "the bundle's footer does not fit its file");
    return 0;
}

static int check_entries(const mend_bundle_entry *entries, const struct foot *foot)
{
    uint64_t end = 0;
    for (uint64_t i = 0; i < foot->index_count; i++) {
        const mend_bundle_entry *e = &entries[i];
        if (e->rank < 0 || e->rank > INT32_MAX || (i && e->rank <= e[-1].rank) || e->offset < end ||
            e->offset > foot->index_offset || e->bytes > foot->index_offset - e->offset)
            return mend_fail(MEND_ERR_DAMAGED, "entry %llu of the bundle is out of order",
                             (unsigned long long)i);
        end = e->offset + e->bytes;
    }
    return 0;
}

static int read_index(mend_source *source, const struct foot *foot, mend_bundle_entry **out)
{
    size_t table = foot->index_count * sizeof(mend_bundle_entry);
    mend_bundle_entry *entries = calloc(foot->index_count + 1, sizeof *entries);
    if (!entries)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the index of a bundle");
    int rc = table ? source->read(source->context, foot->index_offset, entries, table) : 0;
    if (rc == 0 && XXH3_64bits(entries, table) != foot->index_sum)
        rc = mend_fail(MEND_ERR_DAMAGED, "the bundle's index has a wrong checksum");
    if (rc == 0)
        rc = check_entries(entries, foot);
    if (rc) {
        free(entries);
        return rc;
    }
    *out = entries;
    return 0;
}

int mend_bundle_open(mend_source source, mend_bundle_entry **entries, uint64_t *count,
                     mend_version_t *version, uint64_t *save_id)
{
    struct foot foot;
    int rc =
        source.bytes < sizeof foot ? mend_fail(MEND_ERR_TRUNCATED, "too short for a bundle") : 0;
    if (rc == 0)
        rc = source.read(source.context, source.bytes - sizeof foot, &foot, sizeof foot);
    if (rc == 0)
        rc = check_foot(&foot, source.bytes);
    if (rc == 0)
        rc = read_index(&source, &foot, entries);
    if (rc == 0) {
        *count = foot.index_count;
        *version = foot.version;
        *save_id = foot.save_id;
    }
    if (source.close)
        source.close(source.context);
    return rc;
}
