#include "session.h"

#include <base/fail.h>
#include <base/io.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

const char session_parameter[] = "prte_local_tmpdir_base";
static const char any_parameter[] = "tmpdir_base"; /* for all nodes, for this one, for the others */

static bool file_says(const char *folder, const char *name)
{
    char path[SESSION_PATH + 64], line[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool says = false;
    while (!says && fgets(line, sizeof line, file)) {
        line[strcspn(line, "#")] = 0;
        says = strstr(line, any_parameter);
    }
    fclose(file);
    return says;
}

/* The launcher would refuse ours beside the user's. */
static bool is_chosen_by_user(const char *launcher, const char *launcher_args)
{
    extern char **environ;
    for (char **e = environ; *e; e++)
        if (strncmp(*e, "PRTE_MCA_", 9) == 0 && strstr(*e, any_parameter))
            return true;
    if (launcher_args && strstr(launcher_args, any_parameter))
        return true;
    static const char *const files[] = {".prte/mca-params.conf", ".openmpi/mca-params.conf",
                                        "etc/prte-mca-params.conf", "etc/openmpi-mca-params.conf",
                                        "etc/openmpi/openmpi-mca-params.conf"};
    char prefix[PATH_MAX] = "";
    const char *home = getenv("HOME"), *moved = getenv("PRTE_PREFIX");
    if (realpath(launcher, prefix)) /* PREFIX/bin/mpirun */
        for (int up = 0; up < 2 && strrchr(prefix, '/'); up++)
            *strrchr(prefix, '/') = 0;
    const char *const folders[] = {home ? home : "", prefix, moved ? moved : "", ""};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        for (size_t k = 0; k < sizeof files / sizeof *files; k++)
            if (file_says(folders[i], files[k]))
                return true;
    return false;
}

enum session session_make(const char *launcher, const char *launcher_args, char path[SESSION_PATH])
{
    path[0] = 0;
    if (is_chosen_by_user(launcher, launcher_args))
        return SESSION_CHOSEN;
    static const char *const names[] = {"TMPDIR", "TEMP", "TMP"}; /* in the launcher's own order */
    const char *base = NULL;
    for (size_t i = 0; !base && i < sizeof names / sizeof *names; i++)
        base = getenv(names[i]);
    int n = snprintf(path, SESSION_PATH, "%s/mend-session-XXXXXX", base ? base : "/tmp");
    errno = ENAMETOOLONG;
    if (n < SESSION_PATH && mkdtemp(path))
        return SESSION_MADE;
    mend_fail_errno("mpirun needs a temporary folder, and none can be made in %s (TMPDIR)",
                    base ? base : "/tmp");
    path[0] = 0;
    return SESSION_FAILED;
}

void session_remove(const char *path)
{
    if (path[0])
        mend_io_remove_tree(path);
}

void session_remove_at_end(const char *path)
{
    int owner = path[0] ? (int)syscall(SYS_pidfd_open, getpid(), 0) : -1;
    if (owner < 0)
        return;
    pid_t between = fork();
    if (between == 0) {
        if (fork() == 0) {
            /* it must be nobody's child and block nobody: it has no terminal, and no pipe that
             * somebody reads to its end */
            setsid();
            signal(SIGTERM, SIG_IGN);
            prctl(PR_SET_NAME, "mend-session");
            if (chdir("/") == 0 && dup2(owner, 0) == 0 && close_range(1, ~0U, 0) == 0)
                while (poll(&(struct pollfd){.fd = 0, .events = POLLIN}, 1, -1) != 1)
                    ;
            session_remove(path);
        }
        _exit(0);
    }
    close(owner);
    if (between > 0)
        waitpid(between, NULL, 0);
}
