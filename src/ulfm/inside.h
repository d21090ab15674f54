/* Shared by the files of the hall: hall.c has the protocol. */
#ifndef ULFM_INSIDE_H
#define ULFM_INSIDE_H

#include <ulfm/hall.h>

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    NAMED_MAX = 12,   /* deaths on a card */
    TAG_CARD = 31800, /* and which hall of the communicator it is */
    BORROWINGS = 64,  /* that the tags tell apart */
    TAG_STAR =
        0x300000, /* and the round and the kind: a message of an earlier attempt matches nothing */
    TAG_BUILD = 0x400000, /* and the round and the members */
};

/* Small, and of one size for any number of processes, because every process receives one from every other. */
struct card {
    int32_t round, adopted; /* the attempt it calls to; the last one adopted */
    int32_t gone;           /* the sender leaves for good, because all have agreed on that */
    int32_t named;
    int32_t dead[NAMED_MAX]; /* deaths that the sender knows of, from its own number on */
};

struct outbox;

struct mend_hall {
    MPI_Comm channel;       /* carries only our messages */
    bool own;               /* else the channel is the caller's, until there is an own one */
    MPI_Errhandler before;  /* of the caller's */
    struct mend_hall *last; /* where to meet if the channel is revoked */
    int size, rank;
    int tag;         /* of its cards */
    int32_t round;   /* the attempt */
    int32_t adopted; /* the last one adopted; -1: none */
    int32_t unsure;  /* the one whose vote this process has left; -1: none */
    int32_t newest;  /* the last one that any card has called adopted */
    bool was_adopted;

    bool *dead;         /* [size] known to this process, from the library or from others */
    bool *come;         /* [size] its card of the next gathering is here */
    struct card *cards; /* [size] of the next gathering */
    MPI_Request *next;  /* [size] which receives them */
    struct outbox *outbox;

    int members, *member; /* of the attempt, in order; [size] */
    uint64_t hash;        /* of them and of the attempt */
    unsigned looked;      /* at how many of them */
    bool over;            /* the attempt is: a member has died, or has come to the next gathering */
    MPI_Comm alive;       /* made in this attempt */
};

/* cards.c */
void mend_cards_prepare(struct mend_hall *h);
void mend_cards_listen(struct mend_hall *h);
bool mend_cards_rest(struct mend_hall *h); /* false: something is arriving, and its receive stays */
bool mend_cards_gather(struct mend_hall *h); /* false: the channel was revoked */
bool mend_cards_over(struct mend_hall *h);   /* looks at one member */
void mend_cards_news(struct mend_hall *h);   /* of deaths, from the library */
void mend_cards_farewell(struct mend_hall *h);

/* star.c: all members tell the first one their flags, and it tells all the bitwise AND. False: no result. Nobody gets
 * one unless all have told. */
enum mend_ballot { STAR_MADE, STAR_VOTE, STAR_END };
bool mend_star(struct mend_hall *h, enum mend_ballot kind, int *flags);

/* build.c: a communicator of the members of this attempt. It ends when the attempt is over. */
int mend_build(struct mend_hall *h, MPI_Comm *made);

/* Without memory the others must not wait for this process: to them it is one more failure. */
void *mend_hall_memory(size_t n, size_t size);

#endif
