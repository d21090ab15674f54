/* The MPI libraries: are they there, do they have fault tolerance, and does it work? A job of three ranks tries it.
 */
#include "doctor.h"
#include "launch.h"
#include "mpi_paths.h"
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUTPUT_SIZE = 16384 };
static const double answer_seconds = 30, job_seconds = 120;

static const char get_ulfm[] = "Open MPI 5 or newer is needed (Debian 13: apt-get install "
                               "openmpi-bin libopenmpi-dev); in a clone of "
                               "Mend, `make` fetches one into .env/ without root";

/* The first line of `PROGRAM --version`; "" if it does not run. */
static void version_of(const char *program, char *line, size_t size)
{
    char output[OUTPUT_SIZE];
    tool_arguments arguments = {.count = 0};
    line[0] = 0;
    if (tool_add(&arguments, program) && tool_add(&arguments, "--version") &&
        tool_capture(arguments.list, answer_seconds, output, sizeof output) == 0) {
        const char *start = strstr(output, "Version:"); /* MPICH prints it on its second line */
        start = start ? start + strlen("Version:") : output;
        start += strspn(start, " \t");
        snprintf(line, size, "%.*s", (int)strcspn(start, "\n"), start);
    }
    tool_arguments_free(&arguments);
}

/* Kill one of three ranks; the probe prints "ulfm DETECT_MS SHRINK_MS" when the others have continued. */
static void check_ulfm(doctor *d, const char *launcher)
{
    char output[OUTPUT_SIZE], probe[4096], session[SESSION_PATH] = "";
    double detect, shrink;
    tool_arguments arguments = {.count = 0};
    if (!tool_find_file("lib/mend/probe-ulfm", probe, sizeof probe)) {
        doctor_find(d, "ulfm", DOCTOR_BAD, "build Mend with MPI (MEND_WITH_MPI=ON)",
                    "the probe job is not built");
        return;
    }
    int code = TOOL_NOT_STARTED;
    if (tool_add(&arguments, launcher) && tool_add_flags(&arguments, "openmpi") &&
        tool_add_flags(&arguments, "openmpi-one-node") &&
        (session_make(launcher, NULL, session) != SESSION_MADE ||
         (tool_add(&arguments, "--prtemca") && tool_add(&arguments, session_parameter) &&
          tool_add(&arguments, session))) &&
        tool_add(&arguments, "-n") && tool_add(&arguments, "3") && tool_add(&arguments, probe)) {
        code = tool_capture(arguments.list, job_seconds, output, sizeof output);
    }
    tool_arguments_free(&arguments);
    session_remove(session);
    const char *answer = code == TOOL_NOT_STARTED ? NULL : strstr(output, "ulfm ");
    if (answer && sscanf(answer, "ulfm %lf %lf", &detect, &shrink) == 2) {
        doctor_finding *f =
            doctor_find(d, "ulfm", DOCTOR_GOOD, NULL,
                        "one of 3 ranks was killed: noticed after %.0f ms, repaired in %.1f ms",
                        detect, shrink);
        f->value = detect + shrink;
        f->unit = "ms";
        return;
    }
    doctor_find(d, "ulfm", DOCTOR_BAD, get_ulfm,
                "a job of 3 ranks did not survive the kill of one (%s)",
                code == TOOL_TIMED_OUT     ? "it hung"
                : code == TOOL_NOT_STARTED ? "it did not start"
                                           : "it ended");
}

static void open_mpi(char *launcher, size_t launcher_size, char *number, size_t size)
{
    char line[256] = "";
    if (tool_mpi_program("openmpi", "mpirun", launcher, launcher_size))
        version_of(launcher, line, sizeof line);
    const char *found = strstr(line, "Open MPI");
    snprintf(number, size, "%s", found ? found + strcspn(found, "0123456789") : "");
}

void doctor_open_mpi(char *number, size_t size)
{
    char launcher[4400];
    open_mpi(launcher, sizeof launcher, number, size);
}

static void check_open_mpi(doctor *d)
{
    char launcher[4400], number[256];
    int major = 0;
    open_mpi(launcher, sizeof launcher, number, sizeof number);
    if (!number[0]) {
        doctor_find(d, "openmpi", DOCTOR_BAD, get_ulfm, "found no Open MPI");
        return;
    }
    sscanf(number, "%d", &major);
    doctor_find(d, "openmpi", DOCTOR_GOOD, NULL, "Open MPI %s", number);
    if (major >= 5)
        check_ulfm(d, launcher);
    else
        doctor_find(d, "ulfm", DOCTOR_BAD, get_ulfm, "Open MPI %s has no fault tolerance", number);
}

static void check_mpich(doctor *d)
{
    char launcher[4400], line[256] = "";
    if (tool_mpi_program("mpich", "mpirun", launcher, sizeof launcher))
        version_of(launcher, line, sizeof line);
    if (line[0] && !strstr(line, "Open MPI"))
        doctor_find(d, "mpich", DOCTOR_GOOD, NULL, "MPICH %s: can resume checkpoints; has no ULFM",
                    line);
    else
        doctor_find(d, "mpich", DOCTOR_MISSING,
                    "only to restart images on it: apt-get install mpich", "found no MPICH");
}

static void check_slurm(doctor *d)
{
    char path[4096], output[OUTPUT_SIZE];
    if (!tool_find_program("srun", path, sizeof path)) {
        doctor_find(d, "slurm", DOCTOR_MISSING, "only for use in batch jobs",
                    "no Slurm on this machine");
        return;
    }
    char *arguments[] = {path, "--version", NULL};
    int code = tool_capture(arguments, answer_seconds, output, sizeof output);
    output[strcspn(output, "\n")] = 0;
    doctor_find(d, "slurm", DOCTOR_GOOD, NULL, "%s: use sbatch --no-kill and mend run inside",
                code == 0 ? output : path);
}

/* Mend's own launcher: it starts two processes, which do nothing. */
static void check_launcher(doctor *d)
{
    char path[4400], output[OUTPUT_SIZE];
    if (!tool_find_file("lib/mend/mend-node", path, sizeof path)) {
        doctor_find(d, "launcher", DOCTOR_MISSING,
                    "build Mend where libpmix-dev is installed; until then mend run uses mpirun, "
                    "which does not survive the loss of a node",
                    "Mend's launcher is not built");
        return;
    }
    char *arguments[] = {path, "head", "-n", "2", "--", "true", NULL};
    if (tool_capture(arguments, answer_seconds, output, sizeof output) == 0)
        doctor_find(d, "launcher", DOCTOR_GOOD, NULL, "Mend's launcher starts processes");
    else
        doctor_find(d, "launcher", DOCTOR_BAD, "use mend run --launcher mpirun",
                    "Mend's launcher does not start two processes: %.200s", output);
}

void doctor_check_mpi(doctor *d)
{
    tool_mpi_environment();
    check_open_mpi(d);
    check_mpich(d);
    check_launcher(d);
    check_slurm(d);
}
