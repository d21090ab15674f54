#!/usr/bin/env bash
# stub.sh LIST SONAME LIBRARY: what a program of the standard ABI is linked with: a library that has every name, and no code.
set -euo pipefail
sed 's/.*/int MPI_&(void) { return 1; }\nint PMPI_&(void) { return 1; }/' "$1" >"$3.c"
cc -w -shared -fPIC -Wl,-soname,"$2" -o "$3" "$3.c"
