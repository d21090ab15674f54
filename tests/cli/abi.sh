#!/usr/bin/env bash
# What a compiled program relies on does not change unannounced: exported names with their versions, and the
# declarations of the public headers (structures, enumerations, prototypes, macros) are those of the record in
# tests/cli/abi/. A change on purpose is written into the record by `MEND_BUILD=build tests/cli/abi.sh --accept` and
# belongs into NEWS.md.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
: "${MEND_BUILD:=$source/build}"
[ -e "$MEND_BUILD/lib/libmend.so" ] || { echo "SKIP: built without MPI"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Without comments, one declaration a line, in the order of the header. Nothing is expanded: the same text on every
# machine and with every MPI.
declarations() { # HEADER
    sed -e 's/\\$/@@/' "$1" | tr '\n' '\001' | sed -e 's/@@\x01/ /g' | tr '\001' '\n' |
        "${CC:-cc}" -fpreprocessed -dD -E -P -x c - 2>/dev/null | grep -vE '^ *# *(include|ifdef|ifndef|if|else|endif)' |
        sed -e '/^ *extern "C" {/d' | awk '/^ *#/ { print; next }
            { for (i = 1; i <= length($0); i++) {
                  c = substr($0, i, 1)
                  printf "%s", c
                  depth += c == "{"
                  depth -= c == "}"
                  if (depth == 0 && c == ";") print ""
              }
              printf " " }' |
        tr -s ' \t' ' ' | sed -e 's/^ //; s/ $//' -e '/^$/d'
}
names() { # LIBRARY
    nm -D --defined-only --with-symbol-versions "$MEND_BUILD/lib/$1" | awk '$2 != "A" { print $3 }' | LC_ALL=C sort -u
}
for header in "$source"/include/mend/*.h "$source"/include/compat/*.h; do
    declarations "$header" >"$scratch/${header##*/}.txt"
    [ -s "$scratch/${header##*/}.txt" ] || { echo "FAIL: nothing read from $header"; exit 1; }
done
for library in libmend-core.so libmend-store.so libmend.so; do names $library >"$scratch/$library.txt"; done
grep -q 'mend_error_text@@MEND_0.1' "$scratch/libmend.so.txt" || { echo "FAIL: the names have no version"; exit 1; }
if [ "${1:-}" = --accept ]; then rm -f "$here"/abi/*.txt; cp "$scratch"/*.txt "$here/abi"; echo "accepted"; exit 0; fi
if diff -ru "$here/abi" "$scratch"; then echo "PASS: $(cat "$scratch"/*.txt | wc -l) lines"; exit 0; fi
echo "FAIL: the public interface differs from its record (see above). Is it meant? Then tests/cli/abi.sh --accept and NEWS.md."
exit 1
