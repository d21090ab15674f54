#!/usr/bin/env bash
# Images belong to a job. Those of another job (same program, same number of ranks) or damaged ones are refused by name, kept,
# and put aside only when the user says --from-start; a folder that was copied as a whole goes on; a program that was rebuilt
# is named. The ABI that it was built for is named, too; a folder of a Mend that did not note it goes on. The same in a job that
# repairs itself and in one that is launched again.
set -uo pipefail
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
scratch=$(mktemp -d) || exit 1
cd "$scratch" || exit 1
trap 'rm -rf "$scratch"' EXIT
runner=
fail() { echo "FAIL: $*"; tail -n 6 got err 2>/dev/null; [ -z "$runner" ] || kill "$runner" 2>/dev/null; wait; exit 1; }
mpicc.openmpi -O2 -o steady "$MEND_SOURCE/tests/fault/apps/steady.c" || exit 1
cp steady original
native() { mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 2 "$@"; }
native ./steady 2000 512 300 >want || exit 1

more=
stopped() { # DIR MODE ARGS…: a job that stopped after a checkpoint
    local dir=$1 mode=$2; shift 2
    # shellcheck disable=SC2086
    "$MEND" run -n 2 --spares 0 "$mode" $more --every 100ms --levels memory,global:1 -q --dir "$dir" -- ./steady "$@" >got 2>err & runner=$!
    until grep -q checkpoint.commit "$dir/events.jsonl" 2>/dev/null; do kill -0 $runner || fail "$dir ended early"; sleep 0.02; done
    "$MEND" checkpoint "$dir" --stop >/dev/null || fail "no checkpoint of $dir"
    wait $runner
    grep -q '"state": "stopped"' "$dir/job.json" || fail "$dir: $(cat "$dir/job.json")"
}
goes_on() { "$MEND" restart "$@" >got 2>err || fail "restart $*: code $?"; cmp -s got want || fail "restart $*: another output"; }
refused() { # SENTENCE DIR: not resumed, launched once, its images are where they were
    local before launches; before=$(ls "$2/$images"); launches=$(grep -c run.launch "$2/events.jsonl")
    "$MEND" restart "$2" >got 2>err && fail "$2 was resumed"
    grep -q "$1" err || fail "$2: not said: $1"
    ! grep -q steps, got || fail "$2: another job's result"
    grep -q 'mend restart --from-start moves them to' err || fail "$2: no way out named"
    [ "$(grep -c run.launch "$2/events.jsonl")" = $((launches + 1)) ] || fail "$2 was launched again and again"
    [ "$before" = "$(ls "$2/$images")" ] || fail "$2: images were removed"
}
id() { sed -n 's/^ *"id": "\(.*\)",*$/\1/p' "$1/job.json"; }

for mode in --online --no-online; do
    images=images; [ $mode = --online ] || images=versions
    rm -rf a b; stopped a $mode 2000 512 300; stopped b $mode 2000 256 300
    "$MEND" ls a | grep -q "job $(id a) (steady)" || fail "mend ls does not name the job: $("$MEND" ls a)"
    grep -q '^ *"abi": "openmpi",$' a/job.json || fail "job.json does not name the ABI: $(cat a/job.json)"
    "$MEND" ls a | grep -q " (steady)  built for Open MPI$" || fail "mend ls does not name the ABI: $("$MEND" ls a)"
    "$MEND" ls --json a | grep -q '"abi": "openmpi"' || fail "mend ls --json does not name the ABI: $("$MEND" ls --json a)"
    if [ $mode = --online ]; then # the own ones are there, too
        rm -rf c; cp -r a c; cp b/$images/* c/$images/
        sed -i '/"abi":/d' c/job.json; goes_on c
    fi
    rm -rf c; cp -r a c; rm c/$images/*; cp b/$images/* c/$images/
    refused "$images/.*belongs to job $(id b) (program steady), this is job $(id a) (program steady)" c
    goes_on c --from-start
    [ "$(ls c/damaged | wc -l)" = "$(ls b/$images | wc -l)" ] || fail "what was put aside: $(ls c/damaged)"
    rm -rf c; cp -r a c
    for f in c/$images/*; do printf XXXX | dd of="$f" bs=1 seek=$(($(stat -c %s "$f") / 2)) conv=notrunc 2>/dev/null; done
    refused 'rank [01]: version .*is not used\|rank [01]: version .*wrong checksum' c
    [ $mode = --online ] || { goes_on c --from-start; [ -n "$(ls c/damaged)" ] || fail "nothing was kept"; }
    echo "ok: $mode"
done
more=--full-images # others need the program that they were made of
rm -rf a; stopped a --no-online 2000 512 300
mpicc.openmpi -O1 -g -o steady "$MEND_SOURCE/tests/fault/apps/steady.c" || exit 1
rm -rf c; cp -r a c
"$MEND" restart c >got 2>err && fail "a program that was rebuilt goes on without a word"
grep -q 'steady was rebuilt since the job in .*c began.*--rebuilt' err || fail "not said that it was rebuilt"
goes_on c --rebuilt
cp original steady; goes_on a
echo PASS
