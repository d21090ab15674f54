/* The processes of a node: starting them, forwarding their streams, ending them. */
#include "binding.h"
#include "node.h"
#include "pmi/pmi.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- starting -------------------------------------------------------------------------------- */

/* The job may have been started from within another one, whose variables must not win. */
static void remove_variable(char **list, const char *text)
{
    size_t length = strcspn(text, "=") + 1, kept = 0;
    for (size_t i = 0; list[i]; i++)
        if (strncmp(list[i], text, length) == 0)
            free(list[i]);
        else
            list[kept++] = list[i];
    list[kept] = NULL;
}

static void add_text(char ***list, const char *text)
{
    size_t n = 0;
    remove_variable(*list, text);
    while ((*list)[n])
        n++;
    *list = launcher_memory(*list, (n + 2) * sizeof **list);
    (*list)[n] = launcher_text(text);
    (*list)[n + 1] = NULL;
}

static void add_variable(char ***list, const char *name, uint32_t value)
{
    char text[96];
    snprintf(text, sizeof text, "%s=%u", name, value);
    add_text(list, text);
}

/* Programs and scripts look for the names that Open MPI's launcher uses. */
static void add_place(char ***list, const struct node *n, uint32_t local)
{
    uint32_t process = n->ranks[local].rank, later = process >= n->job.ranks;
    add_variable(list, "OMPI_COMM_WORLD_RANK", later ? 0 : process);
    add_variable(list, "OMPI_COMM_WORLD_SIZE", later ? 1 : n->job.ranks);
    add_variable(list, "OMPI_COMM_WORLD_LOCAL_RANK", local);
    add_variable(list, "OMPI_COMM_WORLD_LOCAL_SIZE", n->count);
    add_variable(list, "OMPI_COMM_WORLD_NODE_RANK", local);
    add_variable(list, "OMPI_UNIVERSE_SIZE", n->job.ranks);
}

/* The names that MPICH's own launcher uses. */
static void add_pmi(char ***list, const struct node *n, uint32_t local, int fd)
{
    add_variable(list, "PMI_RANK", n->ranks[local].rank);
    add_variable(list, "PMI_SIZE", n->job.ranks);
    add_variable(list, "PMI_FD", (uint32_t)fd);
    add_variable(list, "MPI_LOCALRANKID", local);
    add_variable(list, "MPI_LOCALNRANKS", n->count);
}

/* Runs in the child. Only calls that are allowed between fork and exec. */
static void become_rank(const struct node *n, const struct processors *bound, const int fds[4],
                        pid_t parent, char **environment)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    if (n->lent)
        signal(SIGTERM, SIG_IGN); /* the ranks must live until the checkpoint is complete */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    setpgid(0, 0);
    for (int i = 0; i < 3; i++)
        dup2(fds[i], i);
    if (fds[3] >= 0)
        fcntl(fds[3], F_SETFD, 0); /* PMI_FD */
    if (bound)
        sched_setaffinity(0, sizeof bound->part, bound->part);
    setrlimit(RLIMIT_NOFILE, &n->files);
    umask((mode_t)n->job.mask);
    if (chdir(n->job.folder) == 0)
        execvpe(n->job.program[0], n->job.program, environment);
    dprintf(2, "mend-node: cannot run %s in %s on %s: %s\n", n->job.program[0], n->job.folder,
            n->job.node_names[n->index], strerror(errno));
    _exit(127);
}

static void say_started(struct node *n, const struct node_rank *r)
{
    struct wire w = {0};
    wire_put_u32(&w, r->rank);
    wire_put_u32(&w, (uint32_t)r->pid);
    link_send(&n->head, SAY_STARTED, &w);
    wire_free(&w);
}

static char **copy_list(char *const *list)
{
    size_t count = 0;
    while (list[count])
        count++;
    char **copy = launcher_memory(NULL, (count + 1) * sizeof *copy);
    for (size_t i = 0; i < count; i++)
        copy[i] = launcher_text(list[i]);
    copy[count] = NULL;
    return copy;
}

static void close_all(const int *fds, int count)
{
    int error = errno;
    for (int i = 0; i < count; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    errno = error;
}

static bool start_one(struct node *n, uint32_t local, const struct topology *t)
{
    struct processors bound;
    struct node_rank *r = &n->ranks[local];
    bool binds = binding_choose(t, (enum binding)n->job.bind, r->place, n->places, &bound);
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
    int questions = n->pmi ? pmi_socket(n, local) : -1;
    bool reads = r->rank == 0;
    if ((n->pmi && questions < 0) ||
        (reads ? pipe2(in, O_CLOEXEC) : (in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0) ||
        pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) {
        int error = errno;
        close_all((int[]){in[0], in[1], out[0], out[1], questions}, 5);
        errno = error;
        return false;
    }
    char **environment =
        n->pmi ? copy_list(n->job.environment) : server_environment(r->rank, n->job.environment);
    if (n->pmi)
        add_pmi(&environment, n, local, questions);
    add_place(&environment, n, local);
    for (char **a = n->added; a && *a; a++)
        add_text(&environment, *a);
    pid_t parent = getpid();
    r->pid = fork();
    if (r->pid == 0)
        become_rank(n, binds ? &bound : NULL, (int[]){in[0], out[1], err[1], questions}, parent,
                    environment);
    int error = errno;
    wire_free_list(environment);
    close_all((int[]){in[0], out[1], err[1], questions}, 4);
    r->streams[0] = out[0];
    r->streams[1] = err[0];
    for (int i = 0; i < 2; i++)
        fcntl(r->streams[i], F_SETFL, O_NONBLOCK);
    if (reads) {
        n->input = in[1];
        fcntl(n->input, F_SETFL, O_NONBLOCK);
    }
    if (r->pid < 0) {
        r->pid = 0;
        errno = error;
        return false;
    }
    n->left++;
    say_started(n, r);
    return true;
}

static void read_topology(struct topology *t)
{
    struct processors allowed = {0};
    sched_getaffinity(0, sizeof allowed.part, allowed.part); /* if it fails, we bind nobody */
    topology_read(t, "/sys/devices/system", &allowed);
}

bool ranks_start(struct node *n, char *why, size_t size)
{
    for (uint32_t r = 0; r < n->job.ranks; r++)
        n->count += n->job.node_of[r] == n->index;
    n->ranks = launcher_memory(NULL, n->count * sizeof *n->ranks);
    n->places = n->count;
    uint32_t local = 0;
    for (uint32_t r = 0; r < n->job.ranks; r++)
        if (n->job.node_of[r] == n->index) {
            n->ranks[local] = (struct node_rank){.rank = r, .place = local, .streams = {-1, -1}};
            local++;
        }
    if (n->job.pmi)
        pmi_open(n);
    struct topology t;
    read_topology(&t);
    uint32_t started = 0;
    while (started < n->count && start_one(n, started, &t))
        started++;
    int error = errno;
    if (started < n->count)
        snprintf(why, size, "cannot start rank %u: %s%s", n->ranks[started].rank, strerror(error),
                 error == EMFILE ? " (ulimit -n)" : "");
    topology_free(&t);
    errno = error;
    return started == n->count;
}

/* A place that a dead process has left. n->places: none is free, and the new process stays unbound. */
static uint32_t free_place(const struct node *n)
{
    uint32_t place = 0;
    for (uint32_t i = 0; place < n->places && i < n->count;)
        if (n->ranks[i].pid > 0 && n->ranks[i].place == place)
            place++, i = 0;
        else
            i++;
    return place;
}

static bool start_later(struct node *n, uint32_t process, char **added)
{
    struct topology t;
    uint32_t place = free_place(n);
    n->ranks = launcher_memory(n->ranks, (n->count + 1) * sizeof *n->ranks);
    n->ranks[n->count] = (struct node_rank){.rank = process, .place = place, .streams = {-1, -1}};
    n->added = added;
    read_topology(&t);
    bool ok = start_one(n, n->count++, &t);
    topology_free(&t);
    n->added = NULL;
    return ok;
}

/* Start a process in place of a dead one, or note that another node starts it. */
void ranks_add(struct node *n, struct wire_reader *r)
{
    uint32_t process = wire_get_u32(r), node = wire_get_u32(r);
    char **added = wire_get_list(r);
    if (!wire_ended(r) || !added || process != n->job.processes || node >= n->job.nodes ||
        n->ending) {
        wire_free_list(added);
        return;
    }
    job_add(&n->job, node);
    bool ok = server_add(process, n->folder);
    if (ok && node == n->index)
        ok = start_later(n, process, added);
    wire_free_list(added);
    struct wire w = {0};
    wire_put_u32(&w, process);
    wire_put_u32(&w, ok);
    link_send(&n->head, SAY_ADDED, &w);
    wire_free(&w);
}

void ranks_kill(struct node *n, uint32_t process)
{
    for (uint32_t i = 0; i < n->count; i++)
        if (n->ranks[i].rank == process && n->ranks[i].pid > 0)
            kill(n->ranks[i].pid, SIGKILL);
}

/* ---- ending ---------------------------------------------------------------------------------- */

static void note_end(struct node *n, struct node_rank *r, int status)
{
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    uint32_t local = (uint32_t)(r - n->ranks);
    bool goodbye = n->pmi ? pmi_said_goodbye(n, local) : server_said_goodbye(r->rank);
    struct wire w = {0};
    r->pid = 0;
    n->left--;
    /* Inform the local ranks at once. The head informs the other nodes, and it alone knows who has met a process
     * added later. A rank that ends without MPI_Finalize counts as dead, too: others would wait for it in theirs. */
    if ((signal || code || !goodbye) && !n->ending && !n->pmi && r->rank < n->job.ranks)
        server_tell_dead(&r->rank, 1);
    wire_put_u32(&w, r->rank);
    wire_put_u32(&w, (uint32_t)signal);
    wire_put_u32(&w, (uint32_t)code);
    wire_put_u32(&w, goodbye);
    link_send(&n->head, SAY_ENDED, &w);
    wire_free(&w);
    if (n->pmi)
        pmi_ended(n, local);
}

void ranks_reap(struct node *n)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        for (uint32_t i = 0; i < n->count; i++)
            if (n->ranks[i].pid == pid)
                note_end(n, &n->ranks[i], status);
}

void ranks_signal(struct node *n, int signal)
{
    for (uint32_t i = 0; i < n->count; i++)
        if (n->ranks[i].pid > 0 && !(n->ranks[i].leaves && signal == SIGTERM))
            kill(n->ranks[i].pid, signal);
}

/* Kill what the ranks have started and left behind: orphans are our children (PR_SET_CHILD_SUBREAPER). */
static void kill_children(void)
{
    FILE *f = fopen("/proc/thread-self/children", "re");
    for (int pid; f && fscanf(f, "%d", &pid) == 1;)
        if (pid > 1)
            kill(pid, SIGKILL);
    if (f)
        fclose(f);
}

bool ranks_end(struct node *n)
{
    ranks_signal(n, SIGKILL); /* by their ids: not every kernel lists children */
    kill_children();
    ranks_reap(n);
    return n->left == 0 && waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

/* ---- streams --------------------------------------------------------------------------------- */

void ranks_read(struct node *n, struct node_rank *r, int stream, bool all)
{
    char bytes[STREAM_CHUNK];
    while (r->streams[stream] >= 0 && (all || n->ahead < STREAM_WINDOW)) {
        ssize_t size = read(r->streams[stream], bytes, sizeof bytes);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0 && errno == EAGAIN)
            return;
        if (size <= 0) {
            close(r->streams[stream]);
            r->streams[stream] = -1;
            return;
        }
        struct wire w = {0};
        wire_put_u32(&w, r->rank);
        wire_put_u32(&w, (uint32_t)stream + 1);
        wire_put_bytes(&w, bytes, (size_t)size);
        link_send(&n->head, SAY_OUTPUT, &w);
        wire_free(&w);
        n->ahead += (size_t)size;
    }
}

void ranks_feed(struct node *n)
{
    size_t before = n->input_at;
    while (n->input >= 0 && n->input_at < n->waiting_input.size) {
        ssize_t size = write(n->input, n->waiting_input.bytes + n->input_at,
                             n->waiting_input.size - n->input_at);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0 && errno == EAGAIN)
            break;
        if (size < 0) { /* the reader is gone */
            close(n->input);
            n->input = -1;
            break;
        }
        n->input_at += (size_t)size;
    }
    if (n->input < 0)
        n->input_at = n->waiting_input.size;
    if (n->input_at > before) {
        struct wire w = {0};
        wire_put_u32(&w, (uint32_t)(n->input_at - before));
        link_send(&n->head, SAY_INPUT_TAKEN, &w);
        wire_free(&w);
    }
    wire_drop(&n->waiting_input, &n->input_at);
    if (n->input_at < n->waiting_input.size)
        return;
    if (n->input_ended && n->input >= 0) {
        close(n->input);
        n->input = -1;
    }
}
