/* agent.h - the interface between the agent, the coordinator and the rest of the lower half. */
#ifndef CAPSULE_AGENT_H
#define CAPSULE_AGENT_H
#include "ground/ground.h"
#include "images/snapshot.h"

struct control_address { /* sent to all ranks when MPI has started */
    uint64_t cookie;
    char host[64];
    char name[32]; /* of a Unix socket, when all ranks are in one place; else: */
    uint32_t port, count;
    uint32_t address[16]; /* IPv4, network order */
};

/* Starts the coordinator, a thread in the process of rank 0. `here`: all ranks are in the same place
 * (door_place). */
int coordinator_start(int ranks, int here, struct control_address *address);
void coordinator_finish(void); /* waits for the round in progress */
void coordinator_end(void);
void coordinator_abandon(void); /* the same, and do not wait for anybody */

/* --- agent.c, application.c: called by the upper half through struct lower --- */
int agent_start(struct upper *upper);
void agent_end(void);
int agent_door(struct comm_card *card);
void agent_request(void);
int agent_stop_begin(void);
int agent_stop_poll(int quiet);
int agent_save(struct upper *upper);
void agent_stop_end(void);
struct comm_card *agent_take_freed_cards(struct upper *upper);

/* A job that repairs itself makes its checkpoints another way (online/checkpoint.c). */
void recover_checkpoint(struct upper *upper, const struct control_save *order,
                        struct snapshot_result *result);
#endif
