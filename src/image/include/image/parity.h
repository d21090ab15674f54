/* What a parity image says of its group, and what a group can make good.
 *
 * The files of a group's g members are cut into chunks. Stripe s of g: the members s, s+1, ... s+m-1
 * (mod g) hold its parity rows 0..m-1, each other member gives one chunk of its file. Every member
 * gives g-m chunks: its whole file. */
#ifndef IMAGE_PARITY_H
#define IMAGE_PARITY_H

#include <image/image.h>

enum { MEND_GROUP_MAX = 32 };

/* Region 0 of a parity image; region 1 is the parity. */
typedef struct mend_parity_group {
    int32_t size, parity, index, reserved; /* k = size - parity; index: whose image it is */
    uint64_t chunk;
    int32_t member[MEND_GROUP_MAX]; /* ranks */
    uint64_t member_bytes[MEND_GROUP_MAX];
} mend_parity_group;

/* Read and check it. Errors: MEND_ERR_DAMAGED, those of mend_image_read. */
int mend_parity_read(mend_image *image, mend_parity_group *group);

/* The parity row of the stripe that the member holds; -1: it gives data. */
int mend_parity_row(int size, int parity, int stripe, int member);

/* Can member x's file be rebuilt from the files and parities of the others that exist? */
bool mend_parity_suffices(int size, int parity, const bool *data, const bool *parities, int x);

#endif
