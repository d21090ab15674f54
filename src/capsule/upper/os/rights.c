/* os/rights.c - calls that change who the process is, or what it sees of the machine: setuid() and its like, chroot(),
 * unshare(), setns().
 *
 * Afterwards the process might not write its images, nor the others read its memory, and no restart brings the change back;
 * a survivor that rolls back to the time before could not undo it. So they fail with EPERM, and we name them. A call that
 * changes nothing succeeds, as do all in a forked child, of which no image is made.
 */
#include "os/os.h"

#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <unistd.h>

struct ids {
    unsigned real, effective, saved;
};

static struct ids of_user(void)
{
    struct ids id = {0, 0, 0};
    getresuid(&id.real, &id.effective, &id.saved);
    return id;
}

static struct ids of_group(void)
{
    struct ids id = {0, 0, 0};
    getresgid(&id.real, &id.effective, &id.saved);
    return id;
}

static int keeps(unsigned now, unsigned next)
{
    return next == now || next == (unsigned)-1;
}

/* Everybody but root is refused by the kernel, as without Mend. */
static int may_pass(int keeps_all)
{
    return keeps_all || geteuid() != 0 || is_forked_child();
}

static int refuse(const char *call)
{
    file_say(
        "Mend cannot follow a program that changes its user, its root folder or its namespaces: "
        "the call fails (EPERM). Start mend run as the program should run",
        call);
    errno = EPERM;
    return -1;
}

#define PASS_IF_SAME(call, is_same, ...) \
    (may_pass(is_same) ? NEXT(call)(__VA_ARGS__) : refuse(#call "()"))

int setuid(uid_t user)
{
    struct ids now = of_user();
    int same = user == now.real && user == now.effective && user == now.saved;
    return PASS_IF_SAME(setuid, same, user);
}

int setgid(gid_t group)
{
    struct ids now = of_group();
    int same = group == now.real && group == now.effective && group == now.saved;
    return PASS_IF_SAME(setgid, same, group);
}

int seteuid(uid_t user)
{
    return PASS_IF_SAME(seteuid, keeps(of_user().effective, user), user);
}

int setegid(gid_t group)
{
    return PASS_IF_SAME(setegid, keeps(of_group().effective, group), group);
}

int setreuid(uid_t real, uid_t effective)
{
    struct ids now = of_user();
    int same = keeps(now.real, real) && keeps(now.effective, effective);
    return PASS_IF_SAME(setreuid, same, real, effective);
}

int setregid(gid_t real, gid_t effective)
{
    struct ids now = of_group();
    int same = keeps(now.real, real) && keeps(now.effective, effective);
    return PASS_IF_SAME(setregid, same, real, effective);
}

int setresuid(uid_t real, uid_t effective, uid_t saved)
{
    struct ids now = of_user();
    int same = keeps(now.real, real) && keeps(now.effective, effective) && keeps(now.saved, saved);
    return PASS_IF_SAME(setresuid, same, real, effective, saved);
}

int setresgid(gid_t real, gid_t effective, gid_t saved)
{
    struct ids now = of_group();
    int same = keeps(now.real, real) && keeps(now.effective, effective) && keeps(now.saved, saved);
    return PASS_IF_SAME(setresgid, same, real, effective, saved);
}

/* These two return the ID before, and no error. */
int setfsuid(uid_t user)
{
    unsigned now = of_user().effective;
    if (may_pass(keeps(now, user)))
        return NEXT(setfsuid)(user);
    refuse("setfsuid()");
    return (int)now;
}

int setfsgid(gid_t group)
{
    unsigned now = of_group().effective;
    if (may_pass(keeps(now, group)))
        return NEXT(setfsgid)(group);
    refuse("setfsgid()");
    return (int)now;
}

int setgroups(size_t count, const gid_t *groups)
{
    return PASS_IF_SAME(setgroups, 0, count, groups);
}

int initgroups(const char *user, gid_t group)
{
    return PASS_IF_SAME(initgroups, 0, user, group);
}

int chroot(const char *folder)
{
    return PASS_IF_SAME(chroot, 0, folder);
}

/* Everybody may make a namespace of users, and the others in it. */
int unshare(int what)
{
    enum { OWN_TABLES = CLONE_FILES | CLONE_FS | CLONE_SYSVSEM };
    return (what & ~OWN_TABLES) == 0 || is_forked_child() ? NEXT(unshare)(what)
                                                          : refuse("unshare()");
}

int setns(int fd, int what)
{
    return is_forked_child() ? NEXT(setns)(fd, what) : refuse("setns()");
}
