/* confined docker|strict|lockless|CALL COMMAND…
 *   docker    what a container's default profile denies, denied (EPERM; clone3: ENOSYS, so that glibc takes clone)
 *   strict    and installing filters, too
 *   lockless  flock() as on a file system that has no locks; /dev/shm is one of its own where that is allowed, for others
 *             remove from it what nobody has locked
 *   CALL      the name of one of the calls below: that one is denied, or if "-" precedes it, kills whoever makes it */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROOM = 80 };

static const int denied[] = {
    SYS_userfaultfd,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_pidfd_getfd,
    SYS_personality,
    SYS_mount,
    SYS_umount2,
    SYS_unshare,
    SYS_setns,
    SYS_bpf,
    SYS_keyctl,
    SYS_perf_event_open,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_move_pages,
    SYS_mbind,
    SYS_set_mempolicy,
    SYS_open_by_handle_at,
};

static const struct {
    const char *name;
    int number;
} single[] = {{"tgkill", SYS_tgkill},
              {"rt_sigtimedwait", SYS_rt_sigtimedwait},
              {"memfd_create", SYS_memfd_create},
              {"socketpair", SYS_socketpair},
              {"eventfd2", SYS_eventfd2},
              {"epoll_create1", SYS_epoll_create1},
              {"signalfd4", SYS_signalfd4},
              {"timer_create", SYS_timer_create},
              {"membarrier", SYS_membarrier}};

static int count;
static struct sock_filter code[ROOM];

static void add(struct sock_filter f)
{
    code[count++] = f;
}

static void deny(int number, int with)
{
    add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1));
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)with));
}

static void deny_prctl(int option)
{
    add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 4));
    add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                     offsetof(struct seccomp_data, args)));
    deny(option, EPERM);
    add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
}

static void own_memory(void)
{
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("memory", "/dev/shm", "tmpfs", 0, "mode=1777"))
        fprintf(stderr, "confined: /dev/shm is shared with all others\n");
}

/* -1: not the name of a call */
static int number_of(const char *name)
{
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (strcmp(single[i].name, name + (name[0] == '-')) == 0)
            return single[i].number;
    return -1;
}

int main(int argc, char **argv)
{
    int one = argc > 1 ? number_of(argv[1]) : -1;
    bool lockless = argc > 1 && strcmp(argv[1], "lockless") == 0;
    bool strict = argc > 1 && strcmp(argv[1], "strict") == 0;
    if (argc < 3 || !(lockless || strict || one >= 0 || strcmp(argv[1], "docker") == 0)) {
        fprintf(stderr, "usage: confined docker|strict|lockless|CALL COMMAND [ARGUMENT]...\n");
        return 2;
    }
    if (lockless)
        own_memory();
    add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
    for (size_t i = 0; one < 0 && !lockless && i < sizeof denied / sizeof *denied; i++)
        deny(denied[i], EPERM);
    if (one < 0)
        deny(lockless ? SYS_flock : SYS_clone3, ENOSYS);
    else
        deny(one, EPERM);
    if (one >= 0 && argv[1][0] == '-')
        code[count - 1].k = SECCOMP_RET_KILL_PROCESS;
    if (strict) {
        deny(SYS_seccomp, EPERM);
        deny_prctl(PR_SET_SECCOMP);
    }
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    struct sock_fprog program = {(unsigned short)count, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0)) {
        perror("confined: seccomp");
        return 77;
    }
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 1;
}
