#!/usr/bin/env bash
# The table of Open MPI's faults is true: the guide's page is printed from it, the files and tests it names exist,
# and no other room of the source includes mpi-ext.h or calls MPIX_.
set -uo pipefail
cd "$MEND_SOURCE" || exit 1
bad=0
complain() { echo "FAIL: $*"; bad=1; }
page=docs/guide/open-mpi-faults.md
"$MEND_BUILD/tools/faults_manual" | diff "$page" - || complain "$page is not what the table says: build/tools/faults_manual >$page"
row() { sed -n "s/^| $1 | \`\(.*\)\` |\$/\1/p" "$page"; }
for file in $(row where); do [ -e "$file" ] || complain "no file $file"; done
tests=$(ctest --test-dir "$MEND_BUILD" -N | sed -n 's/^ *Test *#[0-9]*: //p')
[ "$(row test | wc -l)" -gt 10 ] || complain "only $(row test | wc -l) cures"
for test in $(row test); do
    grep -qx -- "$test" <<<"$tests" || [ -e "$test" ] || complain "no test $test"
done
# a kind of MPI_Comm_split_type of MPICH's is not ULFM
others=$(grep -rnE '(^|[^P_A-Za-z])P?MPIX_[A-Z]|mpi-ext\.h' src --include='*.[ch]' | grep -v MPIX_COMM_TYPE_NEIGHBORHOOD | cut -d: -f1 | sort -u |
    grep -vE '^src/(ulfm/|capsule/upper/faces/missing\.c)')
[ -z "$others" ] || complain "ULFM outside src/ulfm: $others"
[ $bad = 0 ] && echo PASS
exit $bad
