#!/usr/bin/env bash
# No room for words. The disk of the job's folder is full when the job ends: whether it is done does not depend on a line in
# a log, it is launched once, and the lost events are counted. Standard output is full or closed: said, and the exit code is
# not 0, for every command.
set -uo pipefail
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
if [ "${1:-}" != inside ]; then
    how=(unshare -m)
    [ "$(id -u)" = 0 ] || how=(unshare -Urm)
    "${how[@]}" true 2>/dev/null || { echo "SKIP: no mount namespaces here"; exit 77; }
    exec "${how[@]}" bash "$0" inside
fi
scratch=$(mktemp -d) || exit 1
cd "$scratch" || exit 1
trap 'umount "$scratch/job" 2>/dev/null; rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; tail -n 5 got err 2>/dev/null; exit 1; }
mpicc.openmpi -O2 -o steady "$MEND_SOURCE/tests/fault/apps/steady.c" || exit 1
program=(./steady 1500 256 300)
mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 2 "${program[@]}" >want || exit 1

for mode in --online --no-online; do
    mkdir -p -m 700 job
    mount -t tmpfs -o size=24m,mode=700 none job || { echo "SKIP: no tmpfs may be mounted"; exit 77; }
    "$MEND" run -n 2 --spares 0 $mode --every 1h --dir job -- "${program[@]}" >got 2>err & runner=$!
    until grep -q '"event":"recover.\(playing\|born\)"' job/events.jsonl 2>/dev/null; do kill -0 $runner || fail "$mode: it ended early"; sleep 0.02; done
    until ! head -c 1048576 /dev/zero 2>/dev/null >>job/filler; do :; done # until it is full
    for size in 4096 512 64 1; do until ! head -c $size /dev/zero 2>/dev/null >>job/filler; do :; done; done
    # and so is the last page of the events: a line that is longer than what is left of it cannot be written
    until ! printf '{"mend":1,"t":1,"event":"filler"}\n' 2>/dev/null >>job/events.jsonl; do :; done
    wait $runner || fail "$mode: a job that ended well is reported as failed: code $?"
    cmp -s got want || fail "$mode: another output"
    [ "$(grep -c '"run.launch"' job/events.jsonl)" = 1 ] || fail "$mode: launched again"
    [ $mode = --no-online ] || grep -q "EVENTS* LOST: events.jsonl could not be written" err || fail "the lost events are not told"
    umount job
    echo "ok: $mode"
done

"$MEND" run -n 2 --spares 0 --dir full -- "${program[@]}" >/dev/full 2>err && fail "output to a full device was lost without a word"
grep -q 'WARNING: standard output cannot be written: No space left' err || fail "not said at once"
grep -q 'the program ended well, but its output could not be written.*all of it is in .*full/output' err || fail "not said at the end"
cmp -s full/output/0.out want || fail "not all of it is in the folder"
"$MEND" run -n 2 --spares 0 --dir closed -- "${program[@]}" >&- 2>err && fail "output to a closed descriptor was lost without a word"
grep -q 'standard output cannot be written' err || fail "closed: not said"
cmp -s closed/output/0.out want || fail "closed: not all of it is in the folder"
head -1 closed/events.jsonl | grep -q '^{"mend"' && ! grep -q steady: closed/events.jsonl closed/job.json || fail "the output went into another file"
for command in "version" "ls full" "--help" "report full --json" "doctor"; do
    # shellcheck disable=SC2086
    "$MEND" $command >/dev/full 2>err && fail "mend $command >/dev/full: exit code 0"
    grep -q 'standard output could not be written' err || fail "mend $command >/dev/full: no sentence"
    # shellcheck disable=SC2086
    "$MEND" $command >&- 2>err && fail "mend $command >&-: exit code 0"
    :
done
echo PASS
