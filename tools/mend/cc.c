/* mend cc: compile a program with the MPI that mend run launches it on. */
#include "mpi_paths.h"
#include "tool.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: mend cc [--cxx | --fortran] [--mpi openmpi|mpich] [--where] [--] ARGUMENTS…\n"
    "Compile and link an MPI program with the compiler wrapper (mpicc, mpicxx, mpifort) of the MPI "
    "that\n"
    "Mend was built with. This adds nothing of Mend to the program; a program that your own mpicc\n"
    "compiled runs under mend run as well.\n\n"
    "  --cxx, --fortran     compile C++ or Fortran instead of C\n"
    "  --mpi openmpi|mpich  compile for this MPI (default openmpi)\n"
    "  --where              print the wrapper's path and stop\n\n"
    "Mend's options come first; everything from the first other argument on goes to the compiler.\n"
    "Example: mend cc -O2 -o heat heat.c -lm\n";

int mend_cmd_cc(int argc, char **argv)
{
    const char *language = "cc", *mpi = "openmpi";
    char path[4400];
    int where = 0, i = 1;
    for (; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return fputs(help, stdout), TOOL_OK;
        if (strcmp(argv[i], "--cxx") == 0 || strcmp(argv[i], "--fortran") == 0)
            language = argv[i] + 2;
        else if (strcmp(argv[i], "--where") == 0)
            where = 1;
        else if (strcmp(argv[i], "--mpi") == 0 || strncmp(argv[i], "--mpi=", 6) == 0) {
            mpi = argv[i][5] ? argv[i] + 6 : i + 1 < argc ? argv[++i] : "";
            if (strcmp(mpi, "openmpi") != 0 && strcmp(mpi, "mpich") != 0)
                return tool_wrong_use("cc", "--mpi is openmpi or mpich, not \"%s\"", mpi);
        } else if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        } else if (strncmp(argv[i], "--", 2) == 0)
            return tool_wrong_use(
                "cc", "unknown option %s (is it the compiler's? Put -- before it)", argv[i]);
        else
            break;
    }
    if (i >= argc && !where)
        return tool_wrong_use("cc", "name the files to compile");
    if (!tool_mpi_program(mpi, language, path, sizeof path))
        return tool_failed("cc", "%s does not exist: Mend was built without it", path);
    if (where)
        return puts(path), TOOL_OK;
    tool_mpi_environment();
    argv[i - 1] = path;
    execv(path, argv + i - 1);
    return tool_failed("cc", "cannot run %s: %s", path, strerror(errno));
}
