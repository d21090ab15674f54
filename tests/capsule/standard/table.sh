#!/usr/bin/env bash
# table.sh: the standard ABI against what the standard says (values.txt, functions.txt): every constant of the header that the
# face is compiled with, the sizes and places of what a program and the library share, every function that the library has.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../scratch.sh"
header=$MEND_BUILD/include/standard face=$MEND_BUILD/lib/mend/standard/libmpi_abi.so.1
fail=0
bad() { echo "FAIL  $*"; fail=1; }
# one line for each name: NAME VALUE
expand() {
    grep -v '^#' "$here/values.txt" | while read -ra words; do
        value=0
        for w in "${words[@]}"; do
            if [[ $w =~ ^-?(0x[0-9a-f]+|[0-9]+)$ ]]; then value=$((w))
            elif [ "${w#=}" != "$w" ]; then echo "${w#=} $((value - 1))"
            else echo "$w $value"; value=$((value + 1)); fi
        done
    done
}
expand >"$work/values"
{
    printf '#include <mpi.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void)\n{\n    int bad = 0;\n'
    while read -r name value; do
        printf '    if ((long)MPI_%s != %sL) { bad = 1; printf("MPI_%s is %%ld, not %s\\n", (long)MPI_%s); }\n' "$name" "$value" "$name" "$value" "$name"
    done <"$work/values"
    for t in Op Comm Group Win File Session Message Info Errhandler Request Datatype Aint Offset Count; do
        printf '    if (sizeof(MPI_%s) != 8) { bad = 1; printf("MPI_%s has %%zu bytes\\n", sizeof(MPI_%s)); }\n' $t $t $t
    done
    printf '    if (sizeof(MPI_Status) != 32 || offsetof(MPI_Status, MPI_SOURCE) || offsetof(MPI_Status, MPI_TAG) != 4 ||\n'
    printf '        offsetof(MPI_Status, MPI_ERROR) != 8) { bad = 1; printf("MPI_Status\\n"); }\n    return bad;\n}\n'
} >"$work/t.c"
cc -std=c11 -w -I"$header" -o "$work/t" "$work/t.c" || exit 1
"$work/t" >"$work/said" || bad "$(head -20 "$work/said")"
# none of the header is left out
sed -nE 's/^#define MPI_(\w+) .*/\1/p; s/^enum \{ MPI_(\w+) = .*/\1/p' "$header/mpi.h" | grep -vx H_ABI | sort >"$work/have"
cut -d' ' -f1 "$work/values" | sort >"$work/checked"
diff "$work/have" "$work/checked" >"$work/diff" || bad "constants of the header (<) and of values.txt (>): $(head -20 "$work/diff")"
# every function, and its second name
nm -D --defined-only "$face" | awk '{print $3}' | sort >"$work/exported"
sed 's/^/MPI_/; p; s/^/P/' "$here/functions.txt" | sort | comm -23 - "$work/exported" >"$work/missing"
[ -s "$work/missing" ] && bad "functions that the face lacks: $(tr '\n' ' ' <"$work/missing")"
for other in MPI_Comm_c2f mpi_init_ MPIX_Comm_revoke; do grep -qx $other "$work/exported" && bad "the face has $other, which is another library's"; done
[ $fail = 0 ] && echo "ok    $(wc -l <"$work/checked") constants, $(wc -l <"$here/functions.txt") functions"
exit $fail
