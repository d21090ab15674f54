/* Starting the job: the launcher's flags come from share/launch, the rest from the command line. */
#include "run/check/capsule.h"
#include "launch.h"
#include "mpi_paths.h"
#include "start.h"
#include "tool.h"

#include <base/event.h>
#include <base/fail.h>
#include <base/io.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

void run_add(struct run_words *w, const char *text)
{
    w->word = tool_need(realloc(w->word, (size_t)(w->count + 2) * sizeof *w->word));
    w->word[w->count++] = tool_need(strdup(text));
    w->word[w->count] = NULL;
}

void run_add_option(struct run_words *w, const char *name, const char *value)
{
    if (!value || !value[0])
        return;
    run_add(w, name);
    run_add(w, value);
}

void run_add_split(struct run_words *w, const char *text)
{
    char *copy = tool_need(strdup(text)), *rest = NULL;
    for (char *word = strtok_r(copy, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest))
        run_add(w, word);
    free(copy);
}

int run_add_flags(struct run_words *w, const char *name)
{
    char path[4400], file[256], *text;
    size_t size;
    snprintf(file, sizeof file, "share/launch/%s", name);
    if (!tool_find_file(file, path, sizeof path))
        return mend_fail(MEND_ERR_NOT_FOUND, "the launcher's flags %s are missing", path);
    int rc = mend_io_read_input(path, 1 << 16, &text, &size);
    if (rc)
        return rc;
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        line[strcspn(line, "#")] = 0;
        run_add_split(w, line);
    }
    free(text);
    return MEND_OK;
}

static void set_environment(struct run_job *job)
{
    char text[64];
    setenv("MEND_CAPSULE_DIR", job->dir, 1);
    snprintf(text, sizeof text, "%g", job->every);
    setenv("MEND_CAPSULE_EVERY", text, 1);
    static const char *const name[] = {"PARTNER_EVERY", "LOCAL_EVERY", "ERASURE_EVERY",
                                       "DISK_EVERY",    "ERASURE_K",   "ERASURE_M"};
    const int value[] = {job->partner_every, job->local_every, job->erasure_every,
                         job->disk_every,    job->erasure_k,   job->erasure_m};
    for (int i = 0; i < 6; i++) {
        char key[64];
        snprintf(key, sizeof key, "MEND_ONLINE_%s", name[i]);
        snprintf(text, sizeof text, "%d", value[i]);
        setenv(key, text, 1);
    }
    snprintf(text, sizeof text, "%d", job->refill ? job->spares : 0);
    setenv("MEND_ONLINE_REFILL", text, 1);
    setenv("MEND_ONLINE_JOB", job->id, 1);
    char identity[MEND_JOB_TEXT];
    mend_image_job_text(&job->identity, identity);
    setenv("MEND_CAPSULE_JOB", identity, 1);
    setenv("MEND_RUN_FROM_START", job->from_start ? "yes" : "no", 1);
    if (job->input[0]) { /* a rollback reads it again; a pipe cannot be read again */
        setenv("MEND_ONLINE_STDIN", job->input, 1);
        snprintf(text, sizeof text, "%ld", job->input_at);
        setenv("MEND_ONLINE_STDIN_AT", text, 1);
    }
    if (job->local_dir)
        setenv("MEND_ONLINE_LOCAL_DIR", job->local_dir, 1);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(job->meeting, sizeof job->meeting, "%lld%06ld", (long long)now.tv_sec,
             now.tv_nsec / 1000);
    setenv("MEND_RUN_MEETING", job->meeting, 1);
    if (job->raw)
        setenv("MEND_ONLINE_RAW", "yes", 1);
    snprintf(text, sizeof text, "%g", job->hang_timeout);
    if (job->hang_timeout > 0)
        setenv("MEND_CAPSULE_SILENCE", text, 1);
    if (job->full)
        setenv("MEND_CAPSULE_FULL_IMAGES", "yes", 1);
}

static bool add_mpirun(struct run_job *job, struct run_words *w)
{
    char path[4400], number[32];
    if (!tool_mpi_program(job->mpi, "mpirun", path, sizeof path))
        return mend_fail(MEND_ERR_NOT_FOUND, "%s is missing", path), false;
    run_add(w, path);
    bool several = job->host || job->hostfile;
    bool openmpi = strcmp(job->mpi, "openmpi") == 0;
    if (openmpi && (run_add_flags(w, job->online ? "openmpi" : "openmpi-relaunch") ||
                    run_add_flags(w, several ? "openmpi-nodes" : "openmpi-one-node")))
        return false;
    enum session session =
        openmpi ? session_make(path, job->launcher_args, job->session) : SESSION_CHOSEN;
    if (session == SESSION_FAILED)
        return false;
    if (session == SESSION_MADE) {
        run_add(w, "--prtemca");
        run_add(w, session_parameter);
        run_add(w, job->session);
    }
    run_add_option(w, "--host", job->host);
    run_add_option(w, "--hostfile", job->hostfile);
    if (openmpi) /* the launcher passes nothing else to other nodes */
        for (char **e = environ; *e; e++)
            if (strncmp(*e, "MEND_", 5) == 0) {
                char *name = tool_need(strndup(*e, strcspn(*e, "=")));
                run_add_option(w, "-x", name);
                free(name);
            }
    if (job->launcher_args)
        run_add_split(w, job->launcher_args);
    snprintf(number, sizeof number, "%d", job->ranks + (job->online ? job->spares : 0));
    run_add(w, "-n");
    run_add(w, number);
    return true;
}

static void free_words(struct run_words *w)
{
    for (int i = 0; i < w->count; i++)
        free(w->word[i]);
    free(w->word);
}

bool run_command(struct run_job *job, bool resume, char ***command)
{
    set_environment(job);
    tool_mpi_environment();
    struct run_words w = {0};
    char path[4400], number[32];
    bool ok = run_is_ours(job) ? run_node_command(job, &w) : add_mpirun(job, &w);
    if (ok && !capsule_find(job->mpi, path, sizeof path)) {
        mend_fail(MEND_ERR_NOT_FOUND, "Mend was built without %s: %s is missing", job->mpi, path);
        ok = false;
    }
    if (!ok) {
        free_words(&w);
        return false;
    }
    run_add(&w, path);
    if (job->online) {
        snprintf(number, sizeof number, "%d", job->spares);
        run_add(&w, "--online");
        run_add(&w, number);
        run_add(&w, job->dir);
    } else if (resume) {
        snprintf(number, sizeof number, "%ld", job->from);
        run_add(&w, "--resume");
        run_add(&w, job->dir);
        run_add(&w, number);
    }
    for (char **p = job->program; *p; p++)
        run_add(&w, *p);
    *command = w.word;
    return true;
}

/* For our head SIGHUP means news (add.c), and it may come before the head handles it. */
static pid_t fork_for(const char *program)
{
    sigset_t news, old;
    const char *name = strrchr(program, '/');
    sigemptyset(&news);
    if (strcmp(name ? name + 1 : program, "mend-node") == 0)
        sigaddset(&news, SIGHUP);
    sigprocmask(SIG_BLOCK, &news, &old);
    pid_t pid = fork();
    if (pid != 0)
        sigprocmask(SIG_SETMASK, &old, NULL);
    return pid;
}

pid_t run_start(const struct run_job *job, char **command, int *report)
{
    bool input_is_file = job->input[0]; /* rank 0 reads it by itself */
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return -1;
    int words = run_noise_start(), typed = input_is_file ? -1 : run_input_start();
    pid_t pid = fork_for(command[0]);
    if (pid != 0) {
        int error = errno;
        close(ends[1]);
        if (typed >= 0)
            close(typed);
        if (words >= 0)
            close(words);
        *report = ends[0];
        errno = error;
        return pid;
    }
    int nothing = input_is_file ? open("/dev/null", O_RDONLY) : -1;
    if (nothing > 0) { /* nobody would read it from the launcher */
        dup2(nothing, 0);
        close(nothing);
    }
    if (typed >= 0)
        dup2(typed, 0);
    if (words >= 0)
        dup2(words, 2);
    if (!job->raw) /* the launcher's own messages are not the program's output */
        dup2(2, 1);
    dup2(ends[1], RUN_REPORT_FD);
    fcntl(RUN_REPORT_FD, F_SETFL, 0); /* the launcher waits, if we are slow */
    setpgid(0, 0);                    /* the terminal's signals come to us, and we pass them on */
    execv(command[0], command);
    dprintf(STDERR_FILENO, "mend run: cannot run %s: %s\n", command[0], strerror(errno));
    _exit(127);
}

/* Processes below `parent`, deepest last. Ranks have process groups of their own. */
static int descendants(pid_t parent, pid_t *list, int count, int room)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", parent, parent);
    FILE *f = fopen(path, "re");
    for (int pid; f && count < room && fscanf(f, "%d", &pid) == 1;) {
        list[count++] = pid;
        count = descendants(pid, list, count, room);
    }
    if (f)
        fclose(f);
    return count;
}

/* Is it Mend's own daemon on this machine? Without its head it ends its ranks at once, and then cleans up after them. */
static bool is_daemon(pid_t pid)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    FILE *f = fopen(path, "re");
    bool is = f && fgets(name, sizeof name, f) && strcmp(name, "mend-node\n") == 0;
    if (f)
        fclose(f);
    return is;
}

/* A daemon that was killed could not remove its folders. */
static void sweep_daemons(void)
{
    const char *tmp = getenv("TMPDIR");
    mend_io_sweep_held("/tmp", "mend-node-h");
    mend_io_sweep_held("/dev/shm", "mend-node-h"); /* see src/launcher/folders.c */
    if (tmp && strcmp(tmp, "/tmp") != 0)
        mend_io_sweep_held(tmp, "mend-node-h");
}

void run_tidy(struct run_job *job)
{
    sweep_daemons();
    session_remove(job->session);
    job->session[0] = 0;
}

void run_adopt(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* End what is left of a launch on this machine after its launcher is gone. It must not change files when the next
 * launch, or the user, believes that the job has ended. */
void run_clear(void)
{
    enum { DAEMONS_MOMENT = 2200 }; /* turns: 11 s; it has given itself 10 */
    static pid_t below[65536];
    int status, n;
    for (int i = 0; i < 2800 && (n = descendants(getpid(), below, 0, 65536)) > 0; i++) {
        while (n-- > 0)
            if (i >= DAEMONS_MOMENT || !is_daemon(below[n]))
                kill(below[n], SIGKILL);
        while (waitpid(-1, &status, WNOHANG) > 0)
            ;
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
}

/* How long may the launcher take? Our head gives its daemons 11 s, and those on other machines until their leases are
 * over; then it kills them. */
static double time_to_end(const struct run_job *job, pid_t launcher)
{
    enum { OURS = 17, MORE = 6, THEIRS = 4 };
    double silence = job->host || job->hostfile ? run_silence_allowed(job) + MORE : 0;
    return !is_daemon(launcher) ? THEIRS : silence > OURS ? silence : OURS;
}

bool run_end(const struct run_job *job, pid_t launcher)
{
    static pid_t below[65536];
    int n = descendants(launcher, below, 0, 65536), status;
    double limit = mend_now() + time_to_end(job, launcher);
    bool ended = false;
    kill(launcher, SIGTERM);
    while (!(ended = waitpid(launcher, &status, WNOHANG) == launcher) && mend_now() < limit)
        nanosleep(&(struct timespec){0, 20000000}, NULL);
    for (int i = 0; i < n; i++)
        if (!ended || !is_daemon(below[i]))
            kill(below[i], SIGKILL);
    if (ended)
        return true;
    kill(launcher, SIGKILL);
    waitpid(launcher, &status, 0);
    return false;
}
