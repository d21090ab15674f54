#!/usr/bin/env bash
# The arrows of docs/guide/layers.md point down only: which headers a layer may include.
set -uo pipefail
cd "$MEND_SOURCE" || exit 1
bad=0
complain() { echo "FAIL: $*"; bad=1; }
declare -A below=(
    [base]="" [code]="base" [image]="base code" [plan]="base"
    [process]="base" [store]="base code image" [flow]="base code image plan process store"
    [compat]="base code image process store flow" [capsule]="base code image plan process store"
    [tools]="base code image plan"
)
without_mpi=" base code image plan tools "
# the layer that a public header belongs to
owner() { case $1 in error) echo base ;; mend) echo any ;; *) echo "$1" ;; esac; }

check_file() { # LAYER FILE
    local layer=$1 file=$2 header other
    while read -r header; do
        case $header in
            mpi.h | mpi-ext.h) [[ $without_mpi != *" $layer "* ]] || complain "$file includes $header: $layer does without MPI" ; continue ;;
            mend/*) other=$(owner "$(basename "$header" .h)") ;;
            base/* | code/* | image/* | plan/* | process/* | store/* | flow/* | compat/* | capsule/*) other=${header%%/*} ;;
            fenix.h | veloc.h) other=compat ;;
            ../*)
                case $(readlink -m "$(dirname "$file")/$header") in
                    "$PWD/src/$layer"/* | "$PWD/tools/mend"/*) ;;
                    *) complain "$file includes $header: a path out of the folder" ;;
                esac
                continue ;;
            *) continue ;;
        esac
        [ "$other" = any ] && { complain "$file includes $header, which is for users"; continue; }
        [ -n "${below[$other]+x}" ] || continue
        [ "$other" = "$layer" ] || [[ " ${below[$layer]} " == *" $other "* ]] ||
            complain "$file includes <$header>: $layer may only know: ${below[$layer]:-nothing}"
    done < <(sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]([^>"]+)[>"].*/\1/p' "$file")
}
files=0
for layer in base code image plan process store flow compat capsule; do
    [ -d "src/$layer" ] || continue
    while read -r file; do check_file "$layer" "$file"; files=$((files + 1)); done < <(find "src/$layer" -name '*.[ch]')
done
while read -r file; do check_file tools "$file"; files=$((files + 1)); done < <(find tools/mend -name '*.[ch]')
[ $files -gt 20 ] || complain "only $files files looked at"

# and the check itself can fail
mkdir -p "${TMPDIR:-/tmp}/includes.$$"
trap 'rm -rf "${TMPDIR:-/tmp}/includes.$$"' EXIT
printf '#include <store/engine.h>\n#include <mpi.h>\n' >"${TMPDIR:-/tmp}/includes.$$/x.c"
[ "$(check_file base "${TMPDIR:-/tmp}/includes.$$/x.c" | grep -c FAIL)" = 2 ] || complain "the check sees nothing"
[ $bad = 0 ] && echo "PASS: $files files"
exit $bad
