/* A separate folder for what Open MPI's launcher keeps on this machine while a job runs.
 *
 * mpirun names that folder after its process ID, below the temporary folder, and does not start ("prte_session_dir
 * failed … Exists", exit code 213) if one of that name exists. A launcher that was killed leaves it behind. A later
 * one finds it when process IDs have wrapped around, or in a container that shares the temporary folder. */
#ifndef MEND_TOOL_SESSION_H
#define MEND_TOOL_SESSION_H

#include <stdbool.h>
#include <stddef.h>

enum { SESSION_PATH = 4096 };
extern const char session_parameter[]; /* stands between --prtemca and the folder */

enum session {
    SESSION_CHOSEN, /* by the user: in the environment, in launcher_args, which may be NULL, or in a file of parameters */
    SESSION_MADE,
    SESSION_FAILED /* the error's text says why; the launcher could make none either */
};

/* Make such a folder for `launcher`, the path of an mpirun of Open MPI, and put its path there; "" if none was made. */
enum session session_make(const char *launcher, const char *launcher_args, char path[SESSION_PATH]);

/* Remove it; "" is no folder. */
void session_remove(const char *path);

/* Remove it when the calling process has ended, whatever programs it executes until then. */
void session_remove_at_end(const char *path);

#endif
