/* messages/partitioned.h - partitioned communication: what its two files and special_requests.c know of each other. */
#ifndef CAPSULE_PARTITIONED_H
#define CAPSULE_PARTITIONED_H
#include "messages/messages.h"
#pragma GCC visibility push(hidden)

/* One side of a partitioned message. Its bytes are counted as if the data of all partitions were packed. */
struct partitioned {
    struct partitioned *next; /* list of receives */
    object *request;
    int is_recv, peer, tag; /* peer: in comm */
    int world_rank;         /* of the peer; NEUTRAL_PROC_NULL */
    uint64_t comm;          /* the id on its card */
    unsigned nth;           /* such call with this comm, peer and tag */
    unsigned round;         /* starts so far */
    void *buf;
    object *type;
    int n; /* partitions */
    long count, size, extent;
    size_t bytes;    /* of one partition */
    size_t *arrived; /* bytes of each partition; a send: not 0: ready */
    char *packed;    /* a receive of a type with gaps: its bytes come here first */
    int left;        /* partitions that are not ready, or have not arrived */
    int on_way[2];   /* pieces of even and odd rounds that are still being sent */
    int dense;       /* the packed data is the data */
    int freed, error;
};

/* A part of a round's data, as it travels. */
struct piece {
    uint64_t comm; /* these three: whose it is */
    int tag;
    unsigned nth, round;
    size_t offset, bytes;
};
struct parcel {
    struct parcel *next;
    object *request;          /* the message */
    struct partitioned *from; /* NULL: freed, or coming in */
    int source;               /* world rank, when coming in */
    struct piece piece;
    char data[];
};

/* --- pieces.c --- */
struct parcel *parcel_new(size_t bytes);
int parcel_send(struct parcel *p, struct partitioned *from);
int pieces_move(void); /* take in what has come, notice what was sent; never waits */
void pieces_expect(struct partitioned *p);
void pieces_begin(struct partitioned *p); /* a round: those that came too early */
void pieces_forget(struct partitioned *p);

/* --- partitioned.c --- */
void partitioned_place(struct partitioned *p, const struct parcel *parcel);
int partitioned_poll(struct partitioned *p);
int partitioned_status(const struct partitioned *p, struct status *st); /* and its error */
void partitioned_free(struct partitioned *p);

#pragma GCC visibility pop
#endif
