#!/usr/bin/env bash
# plugins.sh: hwloc has a plugin for OpenCL. No process of a job may load it: neither the daemon nor the lower half. The program
# sees nothing of how that is done, and loads it if it looks at the machine with hwloc itself.
set -uo pipefail
. "$(dirname "$0")/scratch.sh"
cd "$work" || exit 1
cat >plugin.c <<'C'
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void loaded(void)
{
    char who[4096] = "";
    FILE *f = fopen(LOADED, "a");
    if (f && readlink("/proc/self/exe", who, sizeof who - 1) > 0)
        fprintf(f, "%s\n", who);
    if (f)
        fclose(f);
}
C
cat >program.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    printf("%s %s\n", getenv("HWLOC_COMPONENTS") ? "seen" : "unseen", getenv("HWLOC_PLUGINS_BLACKLIST") ? "seen" : "unseen");
    MPI_Finalize();
    return 0;
}
C
mkdir plugins
cc -shared -fPIC "-DLOADED=\"$work/loaded\"" -o plugins/hwloc_opencl.so plugin.c || exit 1
export HWLOC_PLUGINS_PATH=$work/plugins
unset HWLOC_COMPONENTS HWLOC_PLUGINS_BLACKLIST
mpicc.openmpi -o program program.c || exit 1
mpirun.openmpi --oversubscribe -n 1 ./program >/dev/null 2>&1
[ -s loaded ] || { echo "SKIP: hwloc has no plugins here"; exit 77; }
for mpi in openmpi mpich; do
    [ -x "$MEND_BUILD/lib/mend/capsule.$mpi" ] || continue
    rm -f loaded
    within 120 "$MEND_BUILD/bin/mend" run -q -n 2 --mpi $mpi --dir "$work/$mpi" -- ./program >out 2>err || { cat err; exit 1; }
    [ "$(sort -u out)" = "unseen unseen" ] || { echo "$mpi: the program's environment: $(cat out)"; exit 1; }
    ! grep -s mend loaded || { echo "$mpi: the plugin was loaded by these"; exit 1; }
done
