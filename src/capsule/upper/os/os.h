/* os/os.h - libc and the kernel: threads, signals, files, children, maps, timers. */
#ifndef CAPSULE_OS_H
#define CAPSULE_OS_H
#include "core/inside.h"
#include <signal.h>
#pragma GCC visibility push(hidden)

/* --- os/ --- */
void os_init(void);
void os_before_image(void); /* park the other threads; note open files, timers, the signal stack */
void os_go_on(void);        /* after the image, in the same process */
void os_resumed(void);      /* after a restart, in the new process */
void block_signals(uint64_t *old);
void restore_signals(const uint64_t *old);
int signal_is_pending(int sig);                  /* blocked, and not delivered yet */
extern __thread volatile unsigned interruptions; /* of this thread by our signal, see os/waits.c */
extern __thread volatile int
    opening; /* the depth in in_library of the open() that this thread is in */
extern __thread volatile unsigned handled_signals; /* that the application's handlers took */
/* --- os/parking.c --- */
void park_threads(void);         /* all but this one */
void release_threads(void);      /* not those that are held */
int hold_threads(void);          /* parks all; 0: one is inside MPI, and none is parked */
void release_held_threads(void); /* all */
/* After a restart the process's first thread takes the role of the thread that took the image. So that is the main thread,
 * as long as it is alive: if another one ended before the others, the kernel would treat the process as dead when other
 * processes read its memory (process_vm_readv). */
int thread_may_speak(void);
void install_park_handler(void);
void note_thread_names(void);
void name_threads_again(void); /* after a restart has brought them back */
void reinstall_signals(void);
void threads_init(void);
void signals_init(void);
void install_handler(int sig, void (*handler)(int, siginfo_t *, void *), int flags, uint64_t mask);
void files_init(void);
int file_numbers(void);              /* the upper half's first file descriptor */
int file_moved(int fd, int cloexec); /* moves fd to such a number, and returns that */
int file_in_passing(void);           /* libc has a file open for a moment, unknown to an image */
void files_of_lower_half(void);      /* MPI has begun: what is open below now stays open */
/* MPI has opened this one: no image waits until it is closed. */
void file_of_lower_half(const char *name);
int files_resumed(void); /* how often this process was resumed from an image */
struct _IO_FILE;
void stream_moved(struct _IO_FILE *f);           /* like file_moved */
void file_link(int fd, char *link, size_t room); /* its name in /proc */
struct scratch *scratch_save(int fd, size_t bytes);
struct stat;
int pipe_note(int fd,
              const struct stat *st); /* at a checkpoint; 0: neither a pipe nor an event counter */
void pipes_noted(void);
struct listener *listener_note(int fd); /* os/sockets.c */
long listener_again(const struct listener *kept);
void pipes_forget(void);
void pipes_again(void);
long scratch_again(const struct scratch *s, const char *path, int flags); /* a file, or -errno */
void files_forget(void);                                                  /* drop the notes */
int child_is_awaited(void); /* an image should wait for a young child */
void note_children(void);
void children_forget(void);
void note_maps(void); /* os/maps.c */
void map_files_again(void);
void number_init(void); /* os/number.c */
void number_resumed(void);
int is_forked_child(void);
void number_note(uintptr_t from, uintptr_t to, int first);
void note_timers(void); /* os/timers.c */
void timers_again(void);
void note_signals(void);
void note_files(void);
void reopen_files(void);
/* --- os/locks.c --- */
void locks_note(int fd);
void locks_forget(void);
void locks_again(void);
int lock_seen(int rc); /* of a call that locks or unlocks; returns rc */
/* sscanf under the name that glibc has had since 2.7. With new headers, plain sscanf needs glibc 2.38, but this runs
 * on the program's C library, which may be older than the one that we are built with. */
int scan(const char *text, const char *format, ...) __asm__("__isoc99_sscanf")
    __attribute__((format(scanf, 2, 3)));
/* libc's own function, which ours of the same name hides */
#define NEXT(function)                                                  \
    ({                                                                  \
        static __typeof__(&function) next_;                             \
        if (!next_)                                                     \
            next_ = (__typeof__(&function))dlsym(RTLD_NEXT, #function); \
        next_;                                                          \
    })

#pragma GCC visibility pop
#endif
