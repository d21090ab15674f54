#!/usr/bin/env bash
# commands.sh: mend exec, checkpoint, restart; requests by file, by signal, by time; refusals.
set -uo pipefail
build=$MEND_BUILD mend=$MEND_BUILD/bin/mend tests=$MEND_BUILD/tests/capsule
. "$(dirname "$0")/scratch.sh"
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1
fail=0
ok() { if [ "$1" = 0 ]; then echo "ok    $2"; else echo "FAIL  $2"; fail=1; fi; }
run() { within 150 mpirun.openmpi --oversubscribe -n 2 "$@"; }
commits() { grep -c checkpoint.commit "$1/events.jsonl" 2>/dev/null; }
run "$tests/moments" 8000 9 >"$work/native" 2>/dev/null

# by `mend checkpoint`, twice, the second time with --stop; then resumed
run "$mend" exec --dir "$work/a" "$tests/moments" 8000 9 >"$work/a.1" 2>"$work/a.e" & job=$!
for ((i = 0; i < 400; i++)); do [ -d "$work/a/versions" ] && break; sleep 0.05; done
"$mend" checkpoint "$work/a" >"$work/a.c"; ok $? "mend checkpoint: $(cat "$work/a.c")"
"$mend" checkpoint "$work/a" --stop --json >"$work/a.c"; ok $? "mend checkpoint --stop --json: $(cat "$work/a.c")"
wait $job
within 150 "$mend" restart "$work/a" >"$work/a.2" 2>"$work/a.e2"; ok $? "mend restart"
cat "$work/a.1" "$work/a.2" | cmp -s - "$work/native"; ok $? "its output is that of an undisturbed run"
[ "$(ls "$work/a/versions" | wc -l)" = 4 ]; ok $? "two versions are kept"

"$mend" checkpoint "$work/a" >"$work/a.c" 2>&1; [ $? = 1 ] && grep -q "no job is running" "$work/a.c"; ok $? "a job that is over is not waited for"

# by time, and by a signal to one rank
run "$mend" exec --dir "$work/b" --every 0.2 "$tests/moments" 8000 9 >"$work/b.1" 2>"$work/b.e"
cmp -s "$work/b.1" "$work/native" && [ "$(commits "$work/b")" -ge 1 ]; ok $? "by time: $(commits "$work/b") versions"
run "$mend" exec --dir "$work/c" "$tests/moments" 8000 9 >"$work/c.1" 2>"$work/c.e" & job=$!
asked= # before the rank is ready for it, the signal would end it
until [ -n "$asked" ] || ! kill -0 $job 2>/dev/null; do
    sleep 0.1
    for p in $(cat /proc/[0-9]*/stat 2>/dev/null | awk '/capsule.openmpi/{print $1}'); do
        grep -qsF "$work/c" "/proc/$p/environ" && caught=$(awk '/^SigCgt:/{print $2}' "/proc/$p/status" 2>/dev/null) &&
            ((16#${caught:-0} & 16#200)) && kill -USR1 "$p" && asked=$p && break
    done
done
wait $job
cmp -s "$work/c.1" "$work/native" && [ "$(commits "$work/c")" -ge 1 ]; ok $? "by SIGUSR1: $(commits "$work/c") versions"

# refusals: one sentence each, and an exit code
refused() { # what, text, command…
    local what=$1 text=$2; shift 2
    within 60 "$@" >"$work/r" 2>&1; local rc=$?
    [ $rc != 0 ] && [ $rc -lt 124 ] && grep -q "$text" "$work/r"; ok $? "refused: $what ($(grep -m1 mend: "$work/r" | cut -c1-110))"
}
printf 'int main(void){return 0;}' >"$work/s.c"
for static in -static -static-pie; do
    PATH=/usr/bin:/bin gcc $static "$work/s.c" -o "$work/program$static" 2>/dev/null &&
        refused "a program linked with $static" "statically linked" "$mend" exec "$work/program$static"
done
cp "$tests/moments" "$work/suid"; chmod u+s "$work/suid"; refused "a setuid program" "setuid" "$mend" exec "$work/suid"
refused "a file that is no program" "not an ELF" "$mend" exec "$work/native"
refused "an empty folder" "no complete version" "$mend" restart "$work"
image=$(ls "$work"/a/versions/global-r1-v2-* | head -1)
cp -r "$work/a" "$work/d"; rm "$work"/d/versions/*-v1-*; d=$work/d/versions/${image##*/}
printf 'X' | dd of="$d" bs=1 seek=$(($(stat -c %s "$d") / 2)) conv=notrunc 2>/dev/null
refused "a flipped byte" "mend:" "$mend" restart "$work/d"
truncate -s -100 "$d"; refused "a cut image" "mend" "$mend" restart "$work/d"
rm "$d"; refused "a missing part" "no complete version" "$mend" restart "$work/d"
refused "mend run in its folder" "holds version" "$mend" run -n 2 --dir "$work/a" -- "$tests/moments" 10 9
[ "$(ls "$work/a/versions" | wc -l)" = 4 ]; ok $? "its versions are still there"
refused "another number of ranks" "from 2 ranks" "$mend" restart "$work/a" -n 3
if [ "$(id -u)" = 0 ]; then
    cp -r "$work/a" "$work/e"; chmod 755 "$work"; chown -R 65534 "$work/e"
    refused "images of another user" "mend" setpriv --reuid 65533 --clear-groups "$mend" restart "$work/e"
fi
exit $fail
