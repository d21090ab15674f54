/* Messages between the ranks of a store. The files of net/ and open.c are the only ones of this layer that call MPI.
 *
 * A net has two lanes, each with its own communicator: `CALL` for the application's thread inside store calls, `WORK`
 * for the background thread. Ranks are logical ranks. Nothing here waits forever: every operation starts without
 * blocking, and is tested until it is complete, a member is known to be dead, or the net is stopped. The first rank
 * to see a death revokes both lanes, so that all others see it, too.
 */
#ifndef STORE_NET_H
#define STORE_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lane { CALL, WORK };

struct net;

/* A net of this process alone, as `rank` of 1. */
int net_alone(int rank, struct net **net);
void net_close(struct net *net); /* collective if not broken */
/* From now on everything on this net fails with MEND_ERR_PEER_FAILED, here and on the peers. */
void net_break(struct net *net);
bool net_broken(const struct net *net);
/* Urgent: somebody waits for the background lane, so it does not sleep between tests. */
void net_set_urgent(struct net *net, bool urgent);

int net_rank(const struct net *net);
int net_size(const struct net *net);
/* May the background thread use MPI? */
bool net_threads(const struct net *net);

/* values[i] = the smallest values[i] of all ranks. */
int net_all_min(struct net *net, enum lane lane, int64_t *values, int count);
/* The same in steps, while the caller does something else: begin, push from time to time (never waits), end (waits,
 * and frees the operation in any case). Nothing else may use the lane in between. */
struct net_min;
int net_min_begin(struct net *net, enum lane lane, const int64_t *values, int count,
                  struct net_min **out);
void net_min_push(struct net_min *operation);
int net_min_end(struct net_min *operation, int64_t *values);
/* Gather `bytes` bytes from every rank, in order of rank. */
int net_gather(struct net *net, enum lane lane, const void *mine, size_t bytes, void *all);
/* Gather every rank's bytes, one after the other; *all is malloc'ed, sizes has room for every rank. */
int net_gather_var(struct net *net, enum lane lane, const void *mine, size_t bytes, uint8_t **all,
                   size_t *sizes);

/* Post one message to one rank, of any length; net_complete() waits for all of them. */
struct post;
int net_send(struct net *net, enum lane lane, int to, int tag, const void *bytes, size_t count);
int net_receive(struct net *net, enum lane lane, int from, int tag, void *bytes, size_t count);
/* Complete everything posted on the lane. On failure, posts that could not be ended safely may still write to their
 * memory: then *poisoned is set, and the caller must not free it. poisoned may be NULL. */
int net_complete(struct net *net, enum lane lane, bool *poisoned);
/* free() for the memory of a message, unless it is poisoned. */
void net_free(void *memory, bool poisoned);

#ifdef MPI_VERSION
int net_open(MPI_Comm comm, int logical_rank, struct net **net);
#endif

#endif
