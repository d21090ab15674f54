/* os/os.h - libc and the kernel: threads, signals, files, children, maps, timers. */
#ifndef CAPSULE_OS_H
#define CAPSULE_OS_H
#include "core/inside.h"
#include <signal.h>
#pragma GCC visibility push(hidden)

/* --- os/ --- */
void os_init(void);
void os_before_image(void); /* park the other threads, note open files, signal mask */
void os_go_on(void);        /* after the image, in the old process */
void os_resumed(void);      /* after a restart, in the new process */
void block_signals(uint64_t *old);
void restore_signals(const uint64_t *old);
int signal_is_pending(int sig);                  /* blocked, and not yet taken */
extern __thread volatile unsigned interruptions; /* of this thread by our signal, see os/waits.c */
extern __thread volatile unsigned handled_signals; /* by handlers of the application */
void park_threads(void);
int thread_may_speak(void);
void release_threads(void);
void install_park_handler(void);
void note_thread_names(void);
void name_threads_again(void); /* when they are back */
void reinstall_signals(void);
void threads_init(void);
void signals_init(void);
void install_handler(int sig, void (*handler)(int, siginfo_t *, void *), int flags, uint64_t mask);
void files_init(void);
int file_numbers(void);              /* of the upper half's files: from here on */
int file_moved(int fd, int cloexec); /* fd at such a number */
int file_in_passing(void);           /* libc has one open that no image would know */
void files_of_lower_half(void);      /* whatever is open there stays so: MPI has begun */
int files_resumed(void);             /* how often this process has begun anew, from an image */
struct _IO_FILE;
void stream_moved(struct _IO_FILE *f);           /* likewise */
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
void files_forget(void);                                                  /* what was noted */
int child_is_awaited(void); /* one that has begun a moment ago */
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
void note_alternate_stack(void);
void note_files(void);
void reopen_files(void);
/* libc's function behind ours of the same name */
#define NEXT(function)                                                  \
    ({                                                                  \
        static __typeof__(&function) next_;                             \
        if (!next_)                                                     \
            next_ = (__typeof__(&function))dlsym(RTLD_NEXT, #function); \
        next_;                                                          \
    })

#pragma GCC visibility pop
#endif
