/* door.h - the coordinator's door: where the agents of the job come in, and nobody else.
 *
 * When all ranks share one machine, it is a socket that only this user may come in by (an abstract Unix
 * socket and SO_PEERCRED); otherwise a TCP socket, on one interface if that is known. Until a guest has shown
 * the cookie, it has a slot of a few bytes and a time limit, and nobody waits for it: a guest that is silent,
 * dribbles or talks nonsense costs one descriptor for a while. When all ranks are in, the door is closed for
 * good.
 */
#ifndef CAPSULE_DOOR_H
#define CAPSULE_DOOR_H
#include "round/control.h"

#include <poll.h>
#include <stdbool.h>

enum {
    DOOR_HELLO = sizeof(struct control_head) + 2 * sizeof(uint64_t), /* a hello: cookie, rank */
    DOOR_SLOTS = 64,                                                 /* besides one for each rank */
    DOOR_NAME = 32,
    DOOR_ADDRESSES = 16,
};

struct guest {
    int fd;
    double until; /* the hello must have arrived */
    size_t got;
    char bytes[DOOR_HELLO];
};

struct door {
    int listener; /* -1: closed */
    bool local;
    uint64_t cookie;
    double seconds; /* for a hello */
    int ranks, slots, count;
    struct guest *guest; /* [slots], the oldest first */
};

/* Processes with the same number can reach each other by a Unix socket. */
uint64_t door_place(void);

/* Nonzero: errno says why. `name` gets the name of the socket. */
int door_open_here(struct door *d, int ranks, uint64_t cookie, char name[DOOR_NAME]);
/* On the interface of that name; "": on all, or on the only one there is. */
int door_open_outside(struct door *d, int ranks, uint64_t cookie, const char *interface,
                      uint32_t address[DOOR_ADDRESSES], uint32_t *count, uint32_t *port);
int door_connect_here(const char *name);

/* Descriptors to poll: at most 1 + slots. */
int door_list(const struct door *d, struct pollfd *list);
/* After the poll: calls take(rank, fd) for each guest that has shown the cookie. If take returns 0, that rank
 * is not expected, and the descriptor is closed. Never waits. */
void door_answer(struct door *d, const struct pollfd *list, int (*take)(int rank, int fd));
void door_close(struct door *d);
#endif
