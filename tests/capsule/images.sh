#!/usr/bin/env bash
# images.sh MPI NP SEED: images that are incremental, written in the background, kept at two levels; each
# version is resumed, and what is printed then must be the end of what an undisturbed run prints.
set -uo pipefail
mpi=$1 np=$2 seed=$3
build=$MEND_BUILD mend=$MEND_BUILD/bin/mend program=$MEND_BUILD/tests/capsule/churn
[ -x "$build/lib/mend/capsule.$mpi" ] || { echo "SKIP: no $mpi"; exit 77; }
. "$(dirname "$0")/scratch.sh"
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1
RANDOM=$seed fail=0 steps=40 mib=${MIB:-6}
ok() { if [ "$1" = 0 ]; then echo "ok    $2"; else echo "FAIL  $2"; fail=1; fi; }
launch() { # MPI words…
    local m=$1; shift
    case $m in
        openmpi) within 300 mpirun.openmpi --oversubscribe -n "$np" "$@" ;;
        mpich) within 300 mpirun.mpich -n "$np" "$@" ;;
    esac
}
capsule() { local m=$1; shift; launch "$m" "$build/lib/mend/capsule.$m" "$@"; }
other() { [ "$mpi" = openmpi ] && [ -x "$build/lib/mend/capsule.mpich" ] && echo mpich || echo openmpi; }
is_end() { # the lines of $work/r are the last ones of the undisturbed run; an image of its very end prints nothing
    [ "$rc" = 0 ] && tail -n "$(wc -l <"$work/r")" "$work/native" | cmp -s - "$work/r"
}
resume() { # MPI folder [version]
    capsule "$1" --restart "$2" "${@:3}" >"$work/r" 2>"$work/re"; rc=$?
}
versions() { ls "$1/versions" 2>/dev/null | sed -n 's/.*-r0-v\([0-9]*\)-.*/\1/p' | sort -n | uniq; }
launch openmpi "$program" $steps "$mib" >"$work/native" 2>/dev/null
grep -q ', 0 pages are wrong' "$work/native" || { echo "FAIL: natively"; exit 1; }

resume_each() { # folder, what: every version that is there, on either MPI in turn
    local v m=$mpi
    for v in $(versions "$1"); do
        resume "$m" "$1" "$v"
        is_end || { cat "$work/re"; tail -n 3 "$work/r"; }
        is_end; ok $? "$2: version $v resumed on $m, $(wc -l <"$work/r") lines"
        [ "$m" = "$mpi" ] && m=$(other) || m=$mpi
    done
}
go() { # folder, variables…: a run with checkpoints at random collectives
    local dir=$1; shift
    env MEND_CAPSULE_DIR="$dir" MEND_CAPSULE_AT=$((RANDOM % 5 + 2)) MEND_CAPSULE_AGAIN=$((RANDOM % 4 + 3)) "$@" \
        bash -c "$(declare -f launch within); np=$np; launch $mpi $build/lib/mend/capsule.$mpi $program $steps $mib" \
        >"$work/o" 2>"$work/e"
    cmp -s "$work/o" "$work/native" || tail -n 3 "$work/e"
    cmp -s "$work/o" "$work/native"
}

go "$work/a" MEND_CAPSULE_KEEP=9 MEND_CAPSULE_INCREMENTAL=yes MEND_CAPSULE_CHAIN=3; ok $? "incremental images do not change the run"
"$mend" verify "$work/a" >"$work/v"; ok $? "mend verify: $(tail -n 1 "$work/v")"
full=$(ls -l "$work"/a/versions/*-r0-v1-* | awk '{print $5}') delta=$(ls -l "$work"/a/versions/*-r0-v2-* | awk '{print $5}')
[ "$delta" -lt "$full" ]; ok $? "an incremental image is smaller: $delta of $full bytes"
resume_each "$work/a" incremental

# a damaged link: every version that needs it is passed over, an older one is taken
cp -r "$work/a" "$work/d"
for f in "$work"/d/versions/*-r0-v2-*; do printf 'X' | dd of="$f" bs=1 seek=$(($(stat -c %s "$f") / 2)) conv=notrunc 2>/dev/null; done
rm -f "$work"/d/versions/*-v[5-9]-* "$work"/d/versions/*-v1[0-9]-*
resume "$mpi" "$work/d"; is_end; ok $? "a damaged link: $(grep -c . "$work/re") sentences, an older version is resumed"
grep -q '"restart".*"version":1\b' "$work/d/events.jsonl" 2>/dev/null || grep -q 'version 2: .*checksum\|version 4: ' "$work/re"; ok $? "it says which"
rm "$work"/d/versions/*-r0-v1-*
lost=0 # MPICH's launcher did not always tell the code
for _ in 1 2 3; do resume "$mpi" "$work/d"; [ $rc != 0 ] && [ ! -s "$work/r" ] || lost=1; done
ok $lost "no whole version: $(grep -m1 'mend:' "$work/re")"

# few are kept: no file that a kept version needs is missing
go "$work/k" MEND_CAPSULE_KEEP=1 MEND_CAPSULE_INCREMENTAL=yes MEND_CAPSULE_CHAIN=2; ok $? "one version is kept"
[ "$(versions "$work/k" | wc -l)" -le 3 ]; ok $? "with what it is based on: $(versions "$work/k" | tr '\n' ' ')"
resume "$(other)" "$work/k"; is_end; ok $? "it resumes"

# in the background: the program goes on, the image is that of the checkpoint
go "$work/b" MEND_CAPSULE_KEEP=9 MEND_CAPSULE_BACKGROUND=yes; ok $? "in the background"
[ "$(versions "$work/b" | wc -l)" -ge 3 ]; ok $? "$(versions "$work/b" | wc -l) versions, paused for $(grep -o '"pause":[0-9.e-]*' "$work/b/events.jsonl" | cut -d: -f2 | sort -g | tail -1) s at most"
resume_each "$work/b" background
go "$work/c" MEND_CAPSULE_KEEP=9 MEND_CAPSULE_BACKGROUND=yes MEND_CAPSULE_INCREMENTAL=yes MEND_CAPSULE_CHAIN=4; ok $? "in the background, incremental"
resume_each "$work/c" "background, incremental"
# the child that writes an image is killed: no version counts, and the program does not notice
go "$work/m" MEND_CAPSULE_BACKGROUND=yes MEND_FAULT=io.write:hit=12:kill; ok $? "images whose writers are killed"
[ -z "$(versions "$work/m")" ]; ok $? "no version counts: $(grep -m1 -o 'no image of version.*' "$work/e")"

# two levels
go "$work/l" MEND_CAPSULE_KEEP=2 MEND_CAPSULE_LOCAL="$work/node" MEND_CAPSULE_INCREMENTAL=yes MEND_CAPSULE_CHAIN=3; ok $? "local first"
ls "$work"/node/mend-*/own-r0-* >/dev/null 2>&1; ok $? "$(ls "$work"/node/mend-*/own-r0-* | wc -l) local, $(versions "$work/l" | wc -l) in the job's folder"
export MEND_CAPSULE_DIR=$work/l; resume "$(other)" "$work/l"; is_end; ok $? "resumed from the node's own folder"
[ ! -s "$work/re" ] || head -3 "$work/re"
rm -rf "$work/node"; resume "$mpi" "$work/l"; is_end; ok $? "the node is lost: resumed from the job's folder"
exit $fail
