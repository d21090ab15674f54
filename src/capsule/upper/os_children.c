/* os_children.c - programs that the application starts. What they do to files is not seen by us
 * (lower/undo.c): if the job can be rolled back, the user is told once.
 */
#include "core.h"

#include <dlfcn.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

void child_begins(const char *command)
{
    static int told;
    if (!upper.lower || upper.lower->rolls_back < 2 || told++)
        return;
    file_say("is started by the program: files that it changes are not put back after a failure",
             command);
}

int system(const char *command)
{
    if (command)
        child_begins(command);
    return NEXT(system)(command);
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    child_begins(path);
    return NEXT(posix_spawn)(pid, path, actions, attributes, argv, envp);
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    child_begins(file);
    return NEXT(posix_spawnp)(pid, file, actions, attributes, argv, envp);
}

pid_t fork(void)
{
    child_begins("a child");
    return NEXT(fork)();
}
