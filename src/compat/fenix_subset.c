/* Subsets of a data member: sets of element ranges. */
#include "fenix_data.h"

#include <base/fail.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The address inside identifies the three stand-ins. */
static char full_mark, empty_mark, prestaged_mark;
const Fenix_Data_subset FENIX_DATA_SUBSET_FULL = {&full_mark};
const Fenix_Data_subset FENIX_DATA_SUBSET_EMPTY = {&empty_mark};
const Fenix_Data_subset FENIX_DATA_SUBSET_PRESTAGED = {&prestaged_mark};
Fenix_Data_subset *FENIX_DATA_SUBSET_IGNORE = NULL;

void mend_fenix_blocks_clear(struct fenix_blocks *blocks)
{
    blocks->count = 0;
}

void mend_fenix_blocks_free(struct fenix_blocks *blocks)
{
    free(blocks->block);
    *blocks = (struct fenix_blocks){0};
}

long mend_fenix_blocks_elements(const struct fenix_blocks *blocks)
{
    long elements = 0;
    for (long i = 0; i < blocks->count; i++)
        elements += blocks->block[i].last - blocks->block[i].first + 1;
    return elements;
}

/* Insert a range, swallowing those that it overlaps or touches. */
int mend_fenix_blocks_add(struct fenix_blocks *blocks, long first, long last)
{
    if (blocks->count == blocks->room) {
        long room = blocks->room ? 2 * blocks->room : 4;
        struct fenix_block *more = realloc(blocks->block, (size_t)room * sizeof *more);
        if (!more)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a subset of %ld blocks", room);
        blocks->block = more;
        blocks->room = room;
    }
    struct fenix_block *block = blocks->block;
    long from = 0;
    while (from < blocks->count && block[from].last + 1 < first)
        from++;
    long to = from;
    while (to < blocks->count && block[to].first <= last + 1) {
        first = block[to].first < first ? block[to].first : first;
        last = block[to].last > last ? block[to].last : last;
        to++;
    }
    memmove(block + from + 1, block + to, (size_t)(blocks->count - to) * sizeof *block);
    block[from] = (struct fenix_block){first, last};
    blocks->count += 1 - (to - from);
    return MEND_OK;
}

enum fenix_subset_kind mend_fenix_subset_kind(const Fenix_Data_subset *subset)
{
    if (subset->impl == &full_mark)
        return SUBSET_FULL;
    if (subset->impl == &empty_mark || !subset->impl)
        return SUBSET_EMPTY;
    return subset->impl == &prestaged_mark ? SUBSET_PRESTAGED : SUBSET_BLOCKS;
}

const struct fenix_blocks *mend_fenix_subset_blocks(const Fenix_Data_subset *subset)
{
    return subset->impl;
}

int mend_fenix_subset_from(const struct fenix_blocks *blocks, Fenix_Data_subset *subset)
{
    if (!subset)
        return MEND_OK;
    struct fenix_blocks *copy = calloc(1, sizeof *copy);
    int code = copy ? MEND_OK : mend_fail(MEND_ERR_NO_MEMORY, "no memory for a subset");
    for (long i = 0; i < blocks->count && !code; i++)
        code = mend_fenix_blocks_add(copy, blocks->block[i].first, blocks->block[i].last);
    if (code) {
        if (copy)
            mend_fenix_blocks_free(copy);
        free(copy);
        return code;
    }
    subset->impl = copy;
    return MEND_OK;
}

static int create(int num_blocks, const int *first, const int *last, int stride,
                  Fenix_Data_subset *subset)
{
    if (!subset)
        return FENIX_ERROR_INVALID_LOGIC_CALL;
    struct fenix_blocks blocks = {0};
    int code = MEND_OK, result = FENIX_SUCCESS;
    for (int i = 0; i < num_blocks && !code && result == FENIX_SUCCESS; i++) {
        long shift = stride >= 0 ? (long)i * stride : 0;
        long from = (stride >= 0 ? first[0] : first[i]) + shift;
        long to = (stride >= 0 ? last[0] : last[i]) + shift;
        if (from < 0)
            result = FENIX_ERROR_SUBSET_START_OFFSET;
        else if (to < from || to > INT_MAX)
            result = FENIX_ERROR_SUBSET_END_OFFSET;
        else
            code = mend_fenix_blocks_add(&blocks, from, to);
    }
    if (!code && result == FENIX_SUCCESS)
        code = mend_fenix_subset_from(&blocks, subset);
    mend_fenix_blocks_free(&blocks);
    return code ? FENIX_ERROR_INTERN : result;
}

int Fenix_Data_subset_create(int num_blocks, int start_offset, int end_offset, int stride,
                             Fenix_Data_subset *subset_specifier)
{
    if (num_blocks <= 0)
        return FENIX_ERROR_SUBSET_NUM_BLOCKS;
    if (stride < 0 || (stride == 0 && num_blocks > 1))
        return FENIX_ERROR_SUBSET_STRIDE;
    return create(num_blocks, &start_offset, &end_offset, stride, subset_specifier);
}

int Fenix_Data_subset_createv(int num_blocks, int *array_start_offsets, int *array_end_offsets,
                              Fenix_Data_subset *subset_specifier)
{
    if (num_blocks <= 0)
        return FENIX_ERROR_SUBSET_NUM_BLOCKS;
    if (!array_start_offsets)
        return FENIX_ERROR_SUBSET_START_OFFSET;
    if (!array_end_offsets)
        return FENIX_ERROR_SUBSET_END_OFFSET;
    return create(num_blocks, array_start_offsets, array_end_offsets, -1, subset_specifier);
}

int Fenix_Data_subset_delete(Fenix_Data_subset *subset_specifier)
{
    if (!subset_specifier)
        return FENIX_ERROR_INVALID_LOGIC_CALL;
    if (mend_fenix_subset_kind(subset_specifier) == SUBSET_BLOCKS) {
        mend_fenix_blocks_free(subset_specifier->impl);
        free(subset_specifier->impl);
    }
    subset_specifier->impl = NULL;
    return FENIX_SUCCESS;
}
