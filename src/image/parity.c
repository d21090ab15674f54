#include <image/parity.h>

#include <base/fail.h>

int mend_parity_read(mend_image *image, mend_parity_group *group)
{
    const mend_image_region *own = mend_image_find_region(image, 0),
                            *parity = mend_image_find_region(image, 1);

    if (!own || !parity || own->bytes != sizeof *group)
        return mend_fail(MEND_ERR_DAMAGED, "a parity image without its group");
    int rc = mend_image_read(image, own->offset, group, sizeof *group);
    if (rc)
        return rc;
    int g = group->size, m = group->parity;
    if (g < 2 || g > MEND_GROUP_MAX || m < 1 || m >= g || group->index < 0 || group->index >= g ||
        group->chunk > INT64_MAX / 64 || parity->bytes != group->chunk * (uint64_t)m ||
        group->member[group->index] != mend_image_info(image)->rank)
        return mend_fail(MEND_ERR_DAMAGED, "a parity image with an impossible group");
    for (int i = 0; i < g; i++)
        if (group->member_bytes[i] > group->chunk * (uint64_t)(g - m))
            return mend_fail(MEND_ERR_DAMAGED, "a parity image with impossible lengths");
    return 0;
}

int mend_parity_row(int size, int parity, int stripe, int member)
{
    int row = (member - stripe % size + size) % size;
    return row < parity ? row : -1;
}

/* In every stripe to which the member gives data, at least k pieces of the others must exist. */
bool mend_parity_suffices(int size, int parity, const bool *data, const bool *parities, int x)
{
    for (int stripe = 0; stripe < size; stripe++) {
        int there = 0;
        for (int i = 0; i < size; i++)
            there +=
                i != x && (mend_parity_row(size, parity, stripe, i) >= 0 ? parities[i] : data[i]);
        if (mend_parity_row(size, parity, stripe, x) < 0 && there < size - parity)
            return false;
    }
    return true;
}
