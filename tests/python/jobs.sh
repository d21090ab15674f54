#!/usr/bin/env bash
# jobs.sh CASE: Python programs with mpi4py under SIGKILL; the results are those of undisturbed runs, bit for bit.
#   heat      examples/python/heat.py in place: a middle rank, the first, before any version, the last step, two in turn
#   relaunch  the same program without repair: killed twice, started again by hand, from files
#   (others)  tests/python/jobs.py
# Called by tests/harness/mpitest.
set -uo pipefail
"$MEND_SOURCE/env/python" --fetch 2>"$MEND_TEST_DIR/log" || { echo "SKIP: Python with mpi4py cannot be had here: $(tail -1 "$MEND_TEST_DIR/log")"; exit 77; }
export PYTHONPATH=$MEND_SOURCE/bindings/python PYTHONDONTWRITEBYTECODE=1
heat=$MEND_SOURCE/examples/python/heat.py jobs=$MEND_SOURCE/tests/python/jobs.py
cd "$MEND_TEST_DIR" || exit 1
fail() { echo "FAIL: $*"; tail -30 err; exit 1; }
in_place() { "$MEND_SOURCE/env/python" $MEND_MPIRUN -n "$@" 2>err; }
plain=$(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$MEND_SOURCE/share/launch/openmpi-relaunch" "$MEND_SOURCE/share/launch/openmpi-one-node" | tr '\n' ' ')
# shellcheck disable=SC2086
alone() { "$MEND_SOURCE/env/python" mpirun.openmpi $plain -n "$@" 2>err; }
same() { [ "$2" = "$3" ] || fail "$1: found '$2', expected '$3'"; }

case $1 in
    heat)
        expected=$(in_place 4 python3 "$heat" --steps 200)
        [[ $expected == "sum "*" repairs 0 from step 0" ]] || fail "undisturbed run printed: $expected"
        for kills in "--kill 2:130" "--kill 0:77" "--kill 3:1" "--kill 1:199" "--kill 1:50 --kill 2:120"; do
            # shellcheck disable=SC2086
            found=$(in_place 6 python3 "$heat" --steps 200 --spares 2 $kills)
            same "$kills" "${found% from step*}" "${expected% 0 from step*} $(wc -w <<<"$kills" | awk '{print $1 / 2}')"
        done ;;
    relaunch)
        expected=$(alone 4 python3 "$heat" --steps 200)
        for kill in "2:130" "0:170"; do
            found=$(alone 4 python3 "$heat" --steps 200 --dir "$PWD/versions" --kill "$kill") && fail "killed at $kill, and mpirun says that all is well"
            [ -z "$found" ] || fail "a killed job printed: $found"
        done
        found=$(alone 4 python3 "$heat" --steps 200 --dir "$PWD/versions")
        same "result" "${found% from step*}" "${expected% from step*}"
        [ "${found##* }" -ge 120 ] || fail "it did not resume from the newest versions: $found"
        # and a third time: from its last version to the same end
        same "again" "$(alone 4 python3 "$heat" --steps 200 --dir "$PWD/versions" | sed 's/ from step.*//')" "${expected% from step*}" ;;
    derived | end | save)
        expected=$(in_place 6 python3 "$jobs" "$1" nothing)
        [[ $expected == "result "*" ranks 4 repairs 0" ]] || fail "undisturbed run printed: $expected"
        [ "$1" != save ] || export MEND_FAULT=store.save.copied:rank=2:hit=3:kill
        found=$(in_place 6 python3 "$jobs" "$1")
        same "$1" "$found" "${expected% 0} 1" ;;
    shrink)
        expected=$(in_place 4 python3 "$jobs" shrink nothing)
        found=$(in_place 4 python3 "$jobs" shrink)
        same shrink "$found" "${expected% ranks 4 repairs 0} ranks 3 repairs 1" ;;
    stopped)
        in_place 4 python3 "$jobs" stopped >out
        same stopped "$(grep -o 'stopped: [^(]*(MEND_ERR_STOPPED)' out | wc -l)" 3 ;; # lines of several ranks may be mixed
    wrong)
        in_place 6 python3 "$jobs" wrong >out
        grep -q 'own: a mistake of rank 1' out || fail "no exception on the rank that raised it: $(cat out)"
        same wrong "$(grep -o 'stopped: rank 1 raised an exception (MEND_ERR_STOPPED)' out | wc -l)" 3 ;;
    late)
        in_place 3 python3 "$jobs" late >out && fail "exit code 0"
        grep -q 'refused: .*import mend.*before.*MEND_ERR_STATE' out || fail "not refused: $(cat out)" ;;
esac
echo PASS >"$MEND_TEST_MARKER"
