/* The board: a page of shared memory on every node where each process of a job writes where it is.
 * It tells whom a process waits for, and who has stopped. One guard thread per process reads it. */
#ifndef PROCESS_BOARD_H
#define PROCESS_BOARD_H

#include <stdbool.h>
#include <stdint.h>

struct mend_board;

enum mend_phase {
    PHASE_WORKING,
    PHASE_SPARE,
    PHASE_SHRINK,
    PHASE_CONNECT,
    PHASE_CARDS,
    PHASE_SPAWN,
    PHASE_WORLD,
    PHASE_BUILD,
    PHASE_AGREE,
    PHASE_FINALIZE,
    PHASE_LEFT
};
const char *mend_phase_name(enum mend_phase phase);

/* What the guard thread calls. */
struct mend_board_calls {
    void (*hung)(const char *who, void *arg); /* a phase lasts too long; who is waited for */
    void (*tick)(enum mend_phase phase,
                 void *arg); /* a few times a second, not as a spare; or NULL */
    void *arg;
};
/* `seats` processes at most; this one has `seat`. Nothing is shared yet. A phase may last `watchdog`
 * seconds (0: for ever). NULL: no memory. */
struct mend_board *mend_board_open(int seat, int seats, double watchdog, double hang_timeout,
                                   const struct mend_board_calls *calls);
/* Share it with the other processes of this node, under a name that all know. The name is removed
 * by mend_board_unlink, when all have come. Without shared memory the board stays private. */
void mend_board_share(struct mend_board *board, uint64_t name);
void mend_board_unlink(struct mend_board *board);
void mend_board_close(struct mend_board *board);

/* Where this process is now. Phases other than WORKING and SPARE are watched. */
void mend_board_phase(struct mend_board *board, enum mend_phase phase);
enum mend_phase mend_board_where(const struct mend_board *board);
/* Counts meetings, so that late-comers are known. */
void mend_board_meeting(struct mend_board *board, int rank);

/* A spare sleeps until somebody of its node rings, at most so long; true: it was rung. */
bool mend_board_nap(struct mend_board *board, long microseconds);
void mend_board_ring(struct mend_board *board);

#endif
