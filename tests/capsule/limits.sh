#!/usr/bin/env bash
# limits.sh: a time limit, files that grew since the image, images of other machines, and one more of everything than the
# man page allows (apps/many.c has ten times what tables of old could hold).
set -uo pipefail
build=$MEND_BUILD mend=$MEND_BUILD/bin/mend tests=$MEND_BUILD/tests/capsule
. "$(dirname "$0")/scratch.sh"
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1
fail=0
ok() { if [ "$1" = 0 ]; then echo "ok    $2"; else echo "FAIL  $2"; fail=1; fi; }
run() { within 150 mpirun.openmpi --oversubscribe -n 2 "$@"; }
run "$tests/appender" 300 "$work/native" >"$work/n" 2>/dev/null

# the batch job ends before the program does
run "$mend" exec --dir "$work/a" --limit 1s "$tests/appender" 300 "$work/a.log" 10000 >"$work/o" 2>"$work/e"
[ ! -s "$work/o" ] && [ -s "$work/a.log" ] && ls "$work"/a/versions/*-v1-* >/dev/null 2>&1; ok $? "stopped by --limit after $(wc -l <"$work/a.log") steps"
within 150 "$mend" restart "$work/a" >"$work/o" 2>"$work/e"; cmp -s "$work/o" "$work/n" && cmp -s "$work/a.log" "$work/native"; ok $? "resumed to its end"

# the program went on after the image, and its file grew
MEND_CAPSULE_AT=100 run "$mend" exec --dir "$work/b" "$tests/appender" 300 "$work/b.log" >"$work/o" 2>"$work/e"
cmp -s "$work/b.log" "$work/native"; ok $? "a run with a checkpoint"
cp "$work/b.log" "$work/keep"
within 150 "$mend" restart "$work/b" >"$work/o" 2>"$work/e"; grep -q "has grown since the image; --truncate" "$work/e"; ok $? "without --truncate it says so: $(grep -m1 grown "$work/e" | cut -c1-100)"
cp "$work/keep" "$work/b.log"
within 150 "$mend" restart "$work/b" --truncate >"$work/o" 2>"$work/e"; cmp -s "$work/o" "$work/n" && cmp -s "$work/b.log" "$work/native"; ok $? "with --truncate the file is that of an undisturbed run"

# images that are whole, but not for this machine
for what in arch:"another CPU architecture" version:"another version of Mend" page:"pages of" cpu:"needs"; do
    rm -rf "$work/f"; cp -r "$work/b" "$work/f"
    "$build/tests/capsule/forge" "$(ls "$work"/f/versions/*-r1-*)" "${what%%:*}" || { ok 1 "forge"; continue; }
    within 100 "$mend" restart "$work/f" >"$work/o" 2>"$work/e"; rc=$?
    [ $rc != 0 ] && [ $rc -lt 124 ] && grep -q "${what#*:}" "$work/e" && [ ! -s "$work/o" ]; ok $? "refused: $(grep -m1 mend: "$work/e" | sed 's/.*: //' | cut -c1-110)"
done

# one operation, thread and timer too many, and a path that no call takes: each has its sentence, and the program goes on
mkdir "$work/deep"
MEND_CAPSULE_AT=1000 within 150 mpirun.openmpi --oversubscribe -n 1 "$mend" exec --dir "$work/c" "$tests/capped" "$work/deep" >"$work/o" 2>"$work/e"
ok $? "a program at the limits ends well"
[ "$(head -1 "$work/o")" = "capped: 1024 operations, 4095 threads, 4097 timers" ] && [ "$(tail -1 "$work/o")" = "capped: done" ]
ok $? "$(head -1 "$work/o")"
for sentence in "MPI_Op_create: more than 1024 operations at once" "more than 4096 threads at once" "at most 4096 timers" "path of an open file is too long"; do
    grep -q "$sentence" "$work/e"; ok $? "said: $(grep -m1 "$sentence" "$work/e" | cut -c1-110)"
done
ls "$work"/c/versions/*-v1-* >/dev/null 2>&1; ok $? "and there is an image"

# more words than a hint may have bytes: MPI_INFO_ENV holds them all
words=$(seq 10000)
run "$tests/moments" 300 9 $words >"$work/n" 2>/dev/null; ok $? "a native run with ${#words} bytes of arguments"
MEND_CAPSULE_AT=60 run "$mend" exec --dir "$work/w" "$tests/moments" 300 9 $words >"$work/o" 2>"$work/e"; ok $? "in the capsule"
cmp -s "$work/o" "$work/n" && ls "$work"/w/versions/*-v1-* >/dev/null 2>&1; ok $? "the output is that of the native run, and there is an image"

# a stack without a limit, of a program that puts large arrays there
if (ulimit -s unlimited) 2>/dev/null; then
    ulimit -s unlimited
    run "$tests/deep" 2 1200 >"$work/n" 2>/dev/null; ok $? "a native run with 120 MiB of stack"
    MEND_CAPSULE_AT=1000 run "$mend" exec --dir "$work/s" "$tests/deep" 2 1200 >"$work/o" 2>"$work/e"; ok $? "ulimit -s unlimited"
    cmp -s "$work/o" "$work/n"; ok $? "the output is that of the native run"
    within 150 "$mend" restart "$work/s" >"$work/o" 2>"$work/e"; ok $? "resumed in the depth"
    [ -s "$work/o" ] && tail -n "$(wc -l <"$work/o")" "$work/n" | cmp -s - "$work/o"; ok $? "to its end"
fi
exit $fail
