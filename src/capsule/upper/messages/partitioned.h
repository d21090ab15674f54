/* messages/partitioned.h - partitioned communication: what its two files and special_requests.c share. */
#ifndef CAPSULE_PARTITIONED_H
#define CAPSULE_PARTITIONED_H
#include "messages/messages.h"
#pragma GCC visibility push(hidden)

/* One side of a partitioned message. Byte counts are those of packed data. */
struct partitioned {
    struct partitioned *next; /* list of receives */
    object *request;
    int is_recv, peer, tag; /* peer: in comm */
    int world_rank;         /* of the peer; NEUTRAL_PROC_NULL */
    uint64_t comm;          /* the id on its card */
    unsigned nth;           /* index among the calls with this comm, peer and tag */
    unsigned round;         /* starts so far */
    void *buf;
    object *type;
    int n; /* partitions */
    long count, size, extent;
    size_t bytes;    /* of one partition */
    size_t *arrived; /* receive: bytes arrived of each partition; send: not 0: ready */
    char *packed;    /* receive of a type that is not dense: its bytes come here first */
    int left;        /* partitions that are not ready, or have not arrived */
    int on_way[2];   /* pieces of even and odd rounds that are still being sent */
    int dense;       /* packed and unpacked data are the same */
    int freed, error;
};

/* A piece of a round's data, in the form in which it travels. */
struct piece {
    uint64_t comm; /* comm, tag, nth and round identify the receive */
    int tag;
    unsigned nth, round;
    size_t offset, bytes;
};
struct parcel {
    struct parcel *next;
    object *request;          /* of the message */
    struct partitioned *from; /* NULL: freed, or an incoming piece */
    int source;               /* world rank of an incoming piece */
    struct piece piece;
    char data[];
};

/* --- pieces.c --- */
struct parcel *parcel_new(size_t bytes);
int parcel_send(struct parcel *p, struct partitioned *from);
int pieces_move(void); /* take in arrived pieces, retire sent ones; never waits */
void pieces_expect(struct partitioned *p);
void pieces_begin(struct partitioned *p); /* a round starts: place the pieces that came early */
void pieces_forget(struct partitioned *p);

/* --- partitioned.c --- */
void partitioned_place(struct partitioned *p, const struct parcel *parcel);
int partitioned_poll(struct partitioned *p);
int partitioned_status(const struct partitioned *p, struct status *st); /* and its error */
void partitioned_free(struct partitioned *p);

#pragma GCC visibility pop
#endif
