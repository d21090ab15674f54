/* The board: shared memory on every node, where each process of a job writes what it is doing. It shows whom a
 * process waits for, and who has stopped. One guard thread in each process reads it. */
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

/* The guard thread calls these. */
struct mend_board_calls {
    void (*hung)(const char *who, void *arg); /* a phase lasts too long, waiting for `who` */
    void (*tick)(enum mend_phase phase,
                 void *arg); /* a few times a second, unless this is a spare; or NULL */
    void *arg;
};
/* Open a board for at most `seats` processes; this one has `seat`. The board is private until mend_board_share. A
 * phase may last `watchdog` seconds (0: forever). NULL: no memory. */
struct mend_board *mend_board_open(int seat, int seats, double watchdog, double hang_timeout,
                                   const struct mend_board_calls *calls);
/* Share the board with the other processes on this node, under a name that all know. mend_board_unlink removes the
 * name once all have opened it. Without shared memory the board stays private. */
void mend_board_share(struct mend_board *board, uint64_t name);
void mend_board_unlink(struct mend_board *board);
void mend_board_close(struct mend_board *board);

/* Set the phase of this process. The watchdog covers SHRINK to AGREE. */
void mend_board_phase(struct mend_board *board, enum mend_phase phase);
enum mend_phase mend_board_where(const struct mend_board *board);
/* Count a meeting, so that the board shows who has not entered it. */
void mend_board_meeting(struct mend_board *board, int rank);

/* A spare sleeps until another process on its node rings, at most this long. True: somebody rang. */
bool mend_board_nap(struct mend_board *board, long microseconds);
void mend_board_ring(struct mend_board *board);

#endif
