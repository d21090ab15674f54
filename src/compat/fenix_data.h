/* The data half of the Fenix face among its files. */
#ifndef COMPAT_FENIX_DATA_H
#define COMPAT_FENIX_DATA_H

#pragma GCC visibility push(default)
#include <compat/fenix.h>
#pragma GCC visibility pop
#include "fenix_internal.h"

#include <mend/process.h>
#include <mend/store.h>
#include <stdbool.h>

/* A set of element ranges, both ends included, sorted, disjoint and not adjacent. */
struct fenix_blocks {
    long count, room;
    struct fenix_block {
        long first, last;
    } *block;
};

int mend_fenix_blocks_add(struct fenix_blocks *blocks, long first, long last);
void mend_fenix_blocks_clear(struct fenix_blocks *blocks);
void mend_fenix_blocks_free(struct fenix_blocks *blocks);
long mend_fenix_blocks_elements(const struct fenix_blocks *blocks);

/* What a Fenix_Data_subset means for a member of `elements` elements (0: resizeable, unknown). */
enum fenix_subset_kind { SUBSET_FULL, SUBSET_EMPTY, SUBSET_PRESTAGED, SUBSET_BLOCKS };
enum fenix_subset_kind mend_fenix_subset_kind(const Fenix_Data_subset *subset);
const struct fenix_blocks *mend_fenix_subset_blocks(const Fenix_Data_subset *subset);
int mend_fenix_subset_from(const struct fenix_blocks *blocks, Fenix_Data_subset *subset);

struct fenix_member {
    int id;
    void *buffer;
    int count; /* elements; FENIX_RESIZEABLE (0): what is stored decides */
    MPI_Datatype datatype;
    size_t element; /* bytes of one */
    bool stored;    /* ever: then count and datatype are fixed */
    /* What was staged since the last commit: where in the member, and the bytes at their places. */
    struct fenix_blocks present;
    char *staged;
    size_t staged_room;
    char *place; /* of the whole member in the group's draft; NULL: none */
    size_t place_bytes;
    struct fenix_member *next;
};

struct fenix_group {
    int id;
    mend_store *store;
    MPI_Comm comm; /* our duplicate: errors return here */
    int rank, size;
    int depth;
    int first_stamp, next_stamp;
    int policy[3];
    char folder[64]; /* RAID 5: where parity lives, in memory; else "" */
    int *stamps;     /* committed and kept, oldest first */
    int stamp_count;
    int open_stamp,
        open_rank; /* part of which snapshot, of whom, is open for reading; stamp < 0: none */
    /* the newest snapshot has all of every member, on all ranks: older ones add nothing to it */
    bool newest_is_whole;
    bool drafted; /* the store's next copy is being filled, see fenix_stage.c */
    int member_count;
    struct fenix_member *members; /* in the order of creation */
    struct fenix_group *next;
};

struct fenix_group *mend_fenix_group(int group_id);
struct fenix_member *mend_fenix_member(struct fenix_group *group, int member_id);
/* A mend code as a Fenix one. Where a peer died, repair as the resume mode asks: with the jumping
 * one this does not return. Nothing may be held by the caller. */
int mend_fenix_data_result(int code, int fenix_code);
/* All ranks of the group: does everyone say yes? Errors: MEND_ERR_PEER_FAILED. */
int mend_fenix_all(struct fenix_group *group, bool yes, bool *all);
/* fenix_share.c: all ranks of the group get the description of one that has it already (existed). Nobody has it: only the
 * folder, which is rank 0's. Errors: MEND_ERR_PEER_FAILED, MEND_ERR_NO_MEMORY. */
int mend_fenix_share_description(struct fenix_group *group, bool existed);
/* fenix_stage.c: copy the subset of a member, or of all; a Fenix code. */
int mend_fenix_stage(struct fenix_group *group, int member_id, const Fenix_Data_subset *subset,
                     bool prestaged_allowed);
/* Is all of every member staged? */
bool mend_fenix_is_whole(const struct fenix_group *group);
/* What is staged becomes the next snapshot; it stays staged. Collective and agreed. */
int mend_fenix_save(struct fenix_group *group);
void mend_fenix_unstage(struct fenix_group *group); /* nothing is staged any more */
void mend_fenix_forget_member(struct fenix_member *member);
/* Close what is open for reading. */
void mend_fenix_close_part(struct fenix_group *group);

#endif
