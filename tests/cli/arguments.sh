#!/usr/bin/env bash
# Options as people type them: --name=value, --name value, -n4, beginnings of names; and what is wrong is named.
set -uo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; exit 1; }
says() { # CODE TEXT WORDS…: mend WORDS ends with CODE and says TEXT
    local code=$1 text=$2 got; shift 2
    got=$("$MEND" "$@" 2>&1); local rc=$?
    [ $rc = "$code" ] || fail "mend $* ended with $rc: $got"
    grep -qF -- "$text" <<<"$got" || fail "mend $* says: $got"
}
says 2 "unknown option --jsn" ls --jsn "$scratch"
says 2 "unknown option -z" run -z ./x
says 2 "--spares needs a value" run -n4 --every=2s --spares
says 2 "-n needs a value" run -n
says 2 '--every needs auto, or a time such as 500ms, 2s or 5min, not "0"' run --every=0 ./x
says 2 '-n needs a number from 1 to 1000000, not "0"' run -n0 ./x
says 2 '--spares needs a number from 0 to 1000000, not "4294967296"' run --spares=4294967296 ./x
says 2 '--bind needs auto, numa, core or none, not "all"' run --bind=all ./x
says 2 '--mtbf needs a time such as 500ms, 5s or 2min, not "soon"' chaos --mtbf soon ./x
says 2 '--pid needs a process id, not "1"' chaos --pid=1
says 2 '--every needs a time such as 500ms, 2s or 5min, not "often"' exec --every often ./x
says 2 '-n needs a number from 1 on, not "two"' restart . -n two
says 2 '--version needs the number of a version, not "newest"' restart . --version newest
says 2 '--mpi needs openmpi or mpich, not "other"' restart . --mpi other
says 2 '--timeout needs a number of seconds, or a time such as 10min, not "soon"' checkpoint . --timeout soon
says 2 "name a folder" verify
says 2 "unknown argument b" ls a b
says 1 "there is no folder" restart "$scratch/nothing"
says 1 "cannot read the hostfile $scratch/none: No such file" run --hostfile "$scratch/none" ./x
says 2 "--leave needs a value" chaos --leave
says 2 "name a program" run -n 2 --quiet
says 0 "Usage: mend run" run -n 2 --help
says 0 "\"mend\":1" version --js
says 2 "unknown command" rnu
# the order in which people need them
"$MEND" --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | head -1 | grep -qx run || fail "mend --help does not begin with run"
# every option of a --help is in the table, and the other way round
for command in run exec checkpoint restart ls verify top report doctor chaos; do
    shown=$("$MEND" $command --help | grep -oE -- '--[a-z][a-z-]+' | sort -u | grep -vx -e --help)
    known=$(sed -n "s/^OPTION($command, *\"\([a-z-]*\)\".*/--\1/p" "$MEND_SOURCE/tools/mend/options.def" | sort -u)
    for option in $shown; do grep -qx -e "$option" <<<"$known" || fail "mend $command --help names $option, which is not in options.def"; done
done
echo PASS
