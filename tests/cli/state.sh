#!/usr/bin/env bash
# State that lives as long as the process is listed: tests/cli/state.txt names, for each room (folder), every variable
# of its objects that can change. A room keeps it in one structure, or in one for each idea; a variable that is new here
# belongs there, and into the list only if it cannot be.
set -uo pipefail
cd "$MEND_SOURCE" || exit 1
list=${1:-tests/cli/state.txt}
bad=0
complain() { echo "FAIL: $*"; bad=1; }

# "ROOM VARIABLE" of every object that has a source; constants with addresses in them are in .data.rel.ro. Left out: what
# the compiler names itself, pointers to the functions that a wrapper hides, and the names that an MPI library exports.
variables() {
    find "$MEND_BUILD/src" "$MEND_BUILD/tools" -path '*.dir/*.o' -print0 | xargs -0 nm -A -f sysv 2>/dev/null | tr -d ' ' |
        sed -E "s#^$MEND_BUILD/##; s#CMakeFiles/[^/]*\.dir/##" | awk -F'|' '
            $3 ~ /^[bBdDC]$/ && $7 !~ /^\.data\.rel\.ro/ {
                source = name = $1
                sub(/\.o:.*/, "", source)
                sub(/.*\.o:/, "", name)
                sub(/\.[0-9]+$/, "", name)
                print source, name
            }' | sort -u | while read -r source name; do
        case $name in
            next | next_ | [.$]* | ompi_* | MPI_* | mpi_fortran_* | __asan* | __gcov* | __sancov*) ;;
            *) [ ! -e "$source" ] || echo "${source%/*} $name" ;;
        esac
    done | sort -u
}
found=$(variables)
[ "$(wc -l <<<"$found")" -gt 50 ] || complain "only $(wc -l <<<"$found") variables found: no objects?"
listed=$(sed 's/#.*//' "$list" | awk 'NF > 1 {for (i = 2; i <= NF; i++) print $1, $i}' | sort -u)
while read -r room name; do
    [ -z "$room" ] || complain "$room: the variable $name is new; put it into the room's state, see $list"
done < <(comm -23 <(echo "$found") <(echo "$listed"))
while read -r room name; do
    grep -qsw -- "$name" "$room"/*.[chS] || echo "note: $room has no $name any more: take it off $list"
done <<<"$listed"

# and the check itself can fail
[ -n "${1:-}" ] || {
    grep -v '^src/base' "$list" >"${TMPDIR:-/tmp}/state.$$"
    said=$(bash "$MEND_SOURCE/tests/cli/state.sh" "${TMPDIR:-/tmp}/state.$$")
    grep -q '^FAIL: src/base: the variable' <<<"$said" || complain "the check sees nothing"
    rm -f "${TMPDIR:-/tmp}/state.$$"
}
[ $bad = 0 ] && echo "PASS: $(wc -l <<<"$found") variables"
exit $bad
