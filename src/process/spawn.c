/* Spawns new processes for dead ones. They run the same program, call mend_process_open, and join the base
 * communicator as spares. The next attempt of the same meeting gives them their ranks.
 *
 * Open MPI starts them through its run-time system. This needs the tcp transport (not only sm), and across nodes we
 * saw it work only once in a job. A death in the middle may leave newcomers behind that nobody knows; their watchdog
 * ends them. Spares are the better choice. */
#include "attempt.h"

#include <base/event.h>
#include <base/log.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tells a process that it replaces another one. */
static const char mark[] = "MEND_SPAWNED";

bool mend_spawn_is_child(MPI_Comm *parents)
{
    *parents = MPI_COMM_NULL;
    return getenv(mark) && PMPI_Comm_get_parent(parents) == MPI_SUCCESS &&
           *parents != MPI_COMM_NULL;
}

int mend_spawn_join(mend_process *p, MPI_Comm parents)
{
    PMPI_Comm_set_errhandler(parents, MPI_ERRORS_RETURN);
    unsetenv(mark); /* a later mend_process_open in this process is an ordinary one */
    int rc = PMPI_Intercomm_merge(parents, 1, &p->base);
    if (rc != MPI_SUCCESS) {
        p->base = MPI_COMM_NULL;
        return rc;
    }
    PMPI_Comm_set_errhandler(p->base, MPI_ERRORS_RETURN);
    rc = mend_ulfm_connect(p->base);
    return rc == MPI_SUCCESS ? mend_hall_open(p->base, &p->hall) : rc;
}

/* Read /proc/self/cmdline, whose size the kernel does not report. Appends a zero byte. NULL: it cannot be read. */
static char *command_line(size_t *bytes)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    char *text = NULL;
    ssize_t got = -1;
    for (size_t room = *bytes = 0; fd >= 0; *bytes += (size_t)got) {
        if (*bytes == room) {
            char *more = realloc(text, (room = 2 * room + 4096) + 1);
            if (!more)
                break;
            text = more;
        }
        if ((got = read(fd, text + *bytes, room - *bytes)) <= 0)
            break;
    }
    if (fd >= 0)
        close(fd);
    if (got != 0 || *bytes == 0) {
        free(text);
        return NULL;
    }
    text[*bytes] = 0;
    return text;
}

/* The arguments of this process, in the form of argv; *text holds the strings. NULL: they cannot be read, and a
 * replacement without them would compute something else. */
static char **own_arguments(char **text)
{
    size_t bytes = 0;
    int n = 0;
    *text = command_line(&bytes);
    char **argv = *text ? calloc(bytes + 1, sizeof *argv) : NULL;
    for (char *at = *text; argv && (at += strlen(at) + 1) < *text + bytes;)
        argv[n++] = at;
    return argv;
}

int mend_spawn_more(mend_process *p, struct attempt *a)
{
    int n = a->plan.spawn;
    char self[4096] = "", *text = NULL, environment[64];
    char **argv = p->options.spawn_argv, **own = NULL;
    const char *command = p->options.spawn_command;
    MPI_Comm children = MPI_COMM_NULL;
    MPI_Info info;
    double begin = mend_now();
    if (!command && readlink("/proc/self/exe", self, sizeof self - 1) > 0)
        command = self;
    if (!command)
        return MPI_ERR_SPAWN;
    if (!argv && !(argv = own = own_arguments(&text))) {
        mend_log(MEND_LOG_ERROR, "process: /proc/self/cmdline cannot be read: nothing is spawned");
        free(text);
        return MPI_ERR_SPAWN;
    }
    snprintf(environment, sizeof environment, "%s=1", mark);
    PMPI_Info_create(&info);
    PMPI_Info_set(info, "PMIX_ENVAR", environment);
    int rc = PMPI_Comm_spawn(command, argv, n, info, 0, p->base, &children, MPI_ERRCODES_IGNORE);
    PMPI_Info_free(&info);
    free(own);
    free(text);
    if (rc == MPI_SUCCESS) {
        PMPI_Comm_set_errhandler(children, MPI_ERRORS_RETURN);
        rc = PMPI_Intercomm_merge(children, 0, &a->larger_base);
        if (rc != MPI_SUCCESS)
            a->larger_base = MPI_COMM_NULL;
    }
    if (rc == MPI_SUCCESS) {
        PMPI_Comm_set_errhandler(a->larger_base, MPI_ERRORS_RETURN);
        rc = mend_ulfm_connect(a->larger_base);
    }
    if (rc == MPI_SUCCESS)
        rc = mend_hall_open(a->larger_base, &a->hall);
    if (rc == MPI_SUCCESS && a->hall) /* of the old processes; the newcomers wait in it */
        rc = mend_comms_confirm(p->base, p->base, p->base);
    mend_event("process.spawn", ev_int("processes", n), ev_int("mpi_code", rc),
               ev_real("seconds", mend_now() - begin));
    return rc;
}
