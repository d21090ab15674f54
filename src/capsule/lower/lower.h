/* lower.h - inside the lower half: steer.c (whose addresses), load.c (start), snapshot.c (image
 * out), restart.c (image in), mpi.c (the only file that sees the real mpi.h).
 */
#ifndef CAPSULE_LOWER_H
#define CAPSULE_LOWER_H
#include "../border.h"

extern struct lower lower; /* mpi.c */
extern size_t page_size;

#define ROUND_UP(x, a)   (((uintptr_t)(x) + (a)-1) & ~((uintptr_t)(a)-1))
#define ROUND_DOWN(x, a) ((uintptr_t)(x) & ~((uintptr_t)(a)-1))

/* One sentence on stderr, and the end of the process. */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* --- steer.c --- */
struct steering {        /* what a restart must know of it */
    uintptr_t cursor;    /* next address to hand out */
    uintptr_t break_now; /* emulated program break */
};
extern struct steering steering;
extern unsigned long steering_traps; /* system calls redirected so far */
long arena_mmap(size_t length, int prot, int flags, int fd, long offset);
void steering_install(void);
extern int main_tid;

/* --- load.c --- */
void load_remember_environment(void); /* before MPI_Init, if that comes first */
void load_and_enter(int argc, char **argv) __attribute__((noreturn));

/* --- agent.c: see there; called by the upper half through struct lower --- */
int agent_start(struct upper *upper);
void agent_abandon(void); /* the upper half will be replaced: forget it, wait for nobody */
void agent_end(void);
int agent_door(struct comm_card *card);
void agent_request(void);
int agent_stop_begin(void);
int agent_stop_poll(int quiet);
int agent_save(struct upper *upper);
void agent_stop_end(void);
struct comm_card *agent_take_freed_cards(struct upper *upper);

/* --- snapshot.c, restart.c --- */
/* version -1: the newest complete one. If there is none, the program (if given) begins. */
void restart(const char *dir, int64_t version, int argc, char **argv) __attribute__((noreturn));
/* The same into an open file, from its beginning; returns the length. In memory, not on disk. */
size_t snapshot_to(struct upper *upper, int fd);
/* In two steps: put the image into memory in place of whatever upper half was there; run it. */
void image_load(const char *bytes, size_t length, const char *name);
void image_resume(void) __attribute__((noreturn));
void bring_back_threads(struct upper *upper);
/* Nothing of an upper half remains in this process: memory, files, handlers, timers. Its threads
 * must be gone already, and the caller on a stack of the lower half. */
void upper_wipe(void);
void signals_ignore_broken_pipes(void);
void signals_default(uint64_t except); /* as an application expects them at its start */

/* --- recover*.c: the job repairs itself when ranks die --- */
extern int recovering; /* this job does; set by recover_main */
void recover_main(int argc, char **argv) __attribute__((noreturn));
void recover_error(
    int rc, const char *function); /* repairs, or ends the job: no return if it was a failure */
struct snapshot_result;
void recover_checkpoint(struct upper *upper, int asked, struct snapshot_result *result);
void recover_resumed(void);
void recover_finalize(void);
void recover_begun(void);     /* the application has called MPI_Init */
void recover_ended(int code); /* the application ends; tells if it did so without MPI_Finalize */

/* --- relaunch.c: jobs that mend run launches again --- */
void relaunch_open(void);
int relaunch_active(void);
void relaunch_begin(void); /* the program starts from its beginning */
int relaunch_capture(struct upper *upper, int64_t version); /* 0 or MEND_ERR_* */
void relaunch_complete(int64_t version);
void relaunch_forget(int64_t below);
void relaunch_go_back(int64_t version, int capture); /* 0: to the beginning */
void input_take(int rank);

/* --- undo*.c: files that the application has changed are put back, see undo.h --- */
void undo_open(const char *dir);
void undo_begin(int rank, int version); /* from now on: changes since that version */
long undo_call(long number, const unsigned long arguments[6]); /* note, then do the system call */
const char *undo_impossible(int rank, int version);
int undo_newest(int rank); /* the newest version that has something to undo; -1: none */
void undo_contents(int rank, int version); /* the steps of putting back: see undo_apply.c */
void undo_others(int rank, int version);
void undo_lengths(int rank, int version);
void undo_remove(int rank, int version); /* nothing is left to undo since that version */
void undo_leave(void);                   /* the upper half of this process is ended */
void undo_meeting(uint64_t id);          /* of those who note together */
void undo_forget(int rank, int version); /* nobody goes back behind that version any more */
int undo_floor(int rank);                /* nobody can go back behind that one */
void undo_remove_floor(int rank);
/* undo_outside.c: changes by MPI-IO and by shared mappings */
void undo_file_opening(const char *name, int amode, int first); /* first: of its communicator */
void undo_file_opened(const char *name, int amode, handle_t file);
void undo_file_closed(handle_t file);
void undo_file_deleting(const char *name);
void undo_note_map(int fd, uint64_t from, uint64_t length); /* from the trap handler */
void undo_outside_forget(int resumes); /* of the upper half that has been ended */
void undo_outside_resumed(void);

/* --- ended.c: the program ends itself --- */
void ended_watch(void);
void ended_by_exit(int code);
int ended_output(void);
void ended_well(void);
void ended_left(void);
void ended_watch_crashes(void); /* keep what the program printed before one */

/* --- output.c: what the application prints, held back until it cannot be rolled back --- */
extern int output_held;
void output_open(const char *dir);
void output_resume(const uint64_t printed[2]);
void output_play(int rank); /* this process plays that rank from now on */
void output_start(void);    /* ... from its very beginning */
long output_write(int fd, const char *bytes, size_t count); /* from the trap handler */
void output_commit(void); /* everything written so far will not be rolled back */
int output_direct(void);  /* hold back no more; 0: not all could be written */
int output_last(
    void);            /* keep what is held back for `mend run`: this may be the end; 0: could not */
int output_end(void); /* the same: this is the end */
/* Of a capture: keep what is held back, tell where it ends; its version is complete; it is resumed. */
int output_aside(int capture, uint64_t mark[2]);
void output_settle(int capture, const uint64_t mark[2]);
void output_take_back(int capture);
struct output_state {
    uint64_t from[2], to[2]; /* bytes held back, by number: standard output, standard error */
};
struct output_state output_state(void);
const char *output_bytes(int stream);
void output_restore(const struct output_state *state, const char *out, const char *err);
double seconds_now(void);
#endif
