/* Where the MPI libraries of this build are. */
#include "mpi_paths.h"
#include "launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The value of `key` in share/mend/mpi, lines of the form KEY VALUE; false if there is none. */
static bool value_of(const char *key, char *value, size_t size)
{
    char path[4096], line[4400];
    FILE *file = tool_find_file("share/mpi", path, sizeof path) ? fopen(path, "re") : NULL;
    if (!file)
        return false;
    size_t length = strlen(key);
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        found = strncmp(line, key, length) == 0 && line[length] == ' ' && line[length + 1];
        if (found)
            found = (size_t)snprintf(value, size, "%s", line + length + 1) < size;
    }
    fclose(file);
    return found;
}

bool tool_mpi_program(const char *mpi, const char *what, char *path, size_t size)
{
    static const char *const usual[][2] = {
        {"mpirun", "mpirun"}, {"cc", "mpicc"}, {"cxx", "mpicxx"}, {"fortran", "mpifort"}};
    char key[64], name[64] = "";
    snprintf(key, sizeof key, "%s.%s", mpi, what);
    if (value_of(key, path, size) && access(path, X_OK) == 0)
        return true;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strcmp(what, usual[i][0]) == 0)
            snprintf(name, sizeof name, "%s.%s", usual[i][1], mpi);
    if (tool_find_program(name, path, size))
        return true;
    name[strcspn(name, ".")] = 0;
    if (tool_find_program(name, path, size))
        return true;
    snprintf(path, size, "%s.%s", name, mpi);
    return false;
}

void tool_mpi_environment(void)
{
    static const char *const prefixes[] = {"OPAL_PREFIX", "PRTE_PREFIX", "PMIX_PREFIX"};
    static const char *const permissions[] = {
        "OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "PRTE_ALLOW_RUN_AS_ROOT",
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"};
    char prefix[4096];
    if (value_of("openmpi.prefix", prefix, sizeof prefix) && access(prefix, X_OK) == 0) {
        for (int i = 0; i < 3; i++)
            setenv(prefixes[i], prefix, 1);
        setenv("PMIX_MCA_pcompress_base_silence_warning", "1", 0);
    }
    for (int i = 0; i < 4 && geteuid() == 0; i++)
        setenv(permissions[i], "1", 0);
    setenv("HOME", "/", 0); /* Open MPI starts nothing without it */
}
