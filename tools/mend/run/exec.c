/* mend exec: this process becomes a rank in a capsule. For launchers that Mend does not start: srun,
 * a site's own mpirun, a debugger.
 */
#include "check/capsule.h"
#include "check/identity.h"
#include "mpi_paths.h"
#include "tool.h"

#include <base/config.h>
#include <base/io.h>
#include <mend/error.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: mend exec [OPTIONS] [--] PROGRAM ARGS…\n"
    "Start PROGRAM as one rank in a capsule; the launcher starts one `mend exec` per rank.\n\n"
    "  --dir DIR            the job's folder, the same for all ranks (default: no checkpoints)\n"
    "  --every T            time between checkpoints (default: only on request)\n"
    "  --limit T            checkpoint and stop the job after this time (batch systems)\n"
    "  --incremental        images hold only the pages that changed since the last one\n"
    "  --background         the program continues while a copy of it writes the image\n"
    "  --full-images        images hold all pages, even unmodified ones of the program's files\n"
    "  --local FOLDER       images go to this node-local folder first, then to DIR in the "
    "background\n"
    "  --mpi openmpi|mpich  the MPI library of the launcher (default openmpi)\n"
    "  --restart DIR [--version V]   resume from DIR instead of starting PROGRAM\n\n"
    "SIGUSR1 to any rank requests a checkpoint, as does `mend checkpoint DIR`.\n";

/* From now on this is not a job of mend run: mend restart must not ask mend run to resume it. */
static void forget_run(const char *dir)
{
    char path[4300];
    snprintf(path, sizeof path, "%s/job.json", dir ? dir : "");
    if (dir && dir[0])
        unlink(path);
}

/* Its images belong to this folder's job, this program and these arguments. */
static int show_identity(const char *dir, char **program)
{
    mend_image_job job;
    char id[MEND_JOB_ID], text[MEND_JOB_TEXT];
    identity_new(id);
    identity_make(&job, id, program);
    int rc = mend_io_make_folders(dir);
    if (!rc)
        rc = identity_of_folder(dir, &job);
    if (rc)
        return rc;
    mend_image_job_text(&job, text);
    setenv("MEND_CAPSULE_JOB", text, 1);
    return MEND_OK;
}

int mend_cmd_exec(int argc, char **argv)
{
    const char *mpi = "openmpi", *restart = NULL, *version = NULL;
    const char *dir = mend_setting_string(MEND_KEY_CAPSULE_DIR);
    double seconds;
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i += 2) { /* all options but three have a value */
        const char *a = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(a, "--") == 0) {
            i++;
            break;
        }
        if (strcmp(a, "--help") == 0) {
            fputs(help, stdout);
            return TOOL_OK;
        }
        if (strcmp(a, "--incremental") == 0 || strcmp(a, "--background") == 0) {
            setenv(a[2] == 'i' ? "MEND_CAPSULE_INCREMENTAL" : "MEND_CAPSULE_BACKGROUND", "yes", 1);
            i--;
            continue;
        }
        if (strcmp(a, "--full-images") == 0) {
            setenv("MEND_CAPSULE_FULL_IMAGES", "yes", 1);
            i--;
            continue;
        }
        if (!value)
            return tool_wrong_use("exec", "%s needs a value", a);
        if (strcmp(a, "--dir") == 0)
            setenv("MEND_CAPSULE_DIR", dir = value, 1);
        else if (strcmp(a, "--every") == 0 && mend_parse_seconds(value, &seconds) == 0)
            setenv("MEND_CAPSULE_EVERY", value, 1);
        else if (strcmp(a, "--limit") == 0 && mend_parse_seconds(value, &seconds) == 0)
            setenv("MEND_CAPSULE_LIMIT", value, 1);
        else if (strcmp(a, "--local") == 0)
            setenv("MEND_CAPSULE_LOCAL", value, 1);
        else if (strcmp(a, "--mpi") == 0)
            mpi = value;
        else if (strcmp(a, "--restart") == 0)
            restart = value;
        else if (strcmp(a, "--version") == 0)
            version = value;
        else if (strcmp(a, "--every") == 0 || strcmp(a, "--limit") == 0)
            return tool_wrong_value("exec", a, value, "a time such as 500ms, 2s or 5min");
        else
            return tool_wrong_use("exec", "unknown option %s", a);
    }
    if (!restart && i >= argc)
        return tool_wrong_use("exec", "name a program");
    static char path[4400]; /* argv gets it */
    if (!capsule_find(mpi, path, sizeof path))
        return tool_failed("exec", "this Mend has no capsule for %s (%s is missing)", mpi, path);
    if (!restart && program_check("exec", argv[i]))
        return TOOL_FAILED;
    tool_mpi_environment();
    forget_run(restart ? restart : dir);
    if (!restart && dir && dir[0] && show_identity(dir, argv + i))
        return tool_failed("exec", "%s", mend_error_text());
    if (restart) {
        unsetenv("MEND_CAPSULE_JOB"); /* the folder has it */
        setenv("MEND_CAPSULE_DIR", restart, 1);
        execl(path, path, "--restart", restart, version, (char *)NULL);
    } else {
        argv[i - 1] = path; /* instead of the last option, or of "exec" */
        execv(path, argv + i - 1);
    }
    return tool_failed("exec", "cannot run %s: %s", path, strerror(errno));
}
