/* Prints docs/guide/open-mpi-faults.md from the table of cures. */
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *fault, *versions, *to_see, *cure, *where, *test, *unneeded;
} cures[] = {
#define CURE(name, fault, versions, to_see, cure, where, test, unneeded) \
    {#name, fault, versions, to_see, cure, where, test, unneeded},
#include <ulfm/cures.def>
#undef CURE
#undef SETTING
};

static const struct {
    const char *cure, *variable, *value;
} settings[] = {
#define SETTING(cure, variable, value) {#cure, variable, value},
#include <ulfm/cures.def>
};

int main(void)
{
    puts("# Open MPI's faults and Mend's workarounds\n\n"
         "For contributors. Mend relies on more of Open MPI's fault tolerance than Open MPI tests. "
         "This page lists\n"
         "every fault of Open MPI that we have found, and Mend's workaround. "
         "`build/tools/faults_manual` prints it from the table\n"
         "`src/ulfm/include/ulfm/cures.def`. `cli.cures` fails if the two differ, or if a test "
         "or a file named here\n"
         "does not exist.\n\n"
         "Only `src/ulfm` includes `mpi-ext.h`. The layers above it (process, store, capsule) call "
         "the functions of\n"
         "`src/ulfm`, so all of them use every workaround. In jobs with fault tolerance, Mend puts "
         "the settings into the\n"
         "environment before `MPI_Init`, unless the user has set them. Open MPI ignores parameters "
         "that it does not know.\n\n"
         "Mend has been run with Open MPI 5.0.7 only. On any other version, assume that a fault is "
         "still there until\n"
         "its test passes without the workaround.");
    for (size_t i = 0; i < sizeof cures / sizeof *cures; i++) {
        printf("\n## %s\n\n%s.\n\n| | |\n|---|---|\n", cures[i].name, cures[i].fault);
        printf("| seen in | Open MPI %s |\n| how to see it | %s |\n| workaround | %s |\n",
               cures[i].versions, cures[i].to_see, cures[i].cure);
        for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
            if (!strcmp(settings[k].cure, cures[i].name))
                printf("| setting | `%s=%s` |\n", settings[k].variable, settings[k].value);
        printf("| where | `%s` |\n| test | `%s` |\n| cost, also without the fault | %s |\n",
               cures[i].where, cures[i].test, cures[i].unneeded);
    }
    return 0;
}
