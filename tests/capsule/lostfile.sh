#!/usr/bin/env bash
# lostfile.sh MPI PROGRAM: an MPI program is stopped with files open (chapters/io.c). If one of them is gone or shorter at the restart,
# that is said, and the program does not go on without its data; with the file in its place it ends as if nothing had been. A
# relative name with colons in it is found from another folder, too.
set -uo pipefail
mpi=$1 program=$2
. "$(dirname "$0")/scratch.sh"
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1
capsule=$MEND_BUILD/lib/mend/capsule.$mpi fail=0
case $mpi in
    openmpi) launch=(mpirun.openmpi --oversubscribe -n 2) ;;
    mpich) launch=(mpirun.mpich -n 2) ;;
esac
run() { within "${LIMIT:-120}" "${launch[@]}" "$@"; }
expect() { [ "$2" = "$3" ] && echo "ok    $mpi, $1" || { echo "FAIL  $mpi, $1: $2, not $3"; tail -n 5 err; fail=1; }; }
mkdir "$work/there" "$work/elsewhere" "$work/native" && cd "$work/native" || exit 1
export CHAPTER_FILE=at-12:30.dat
run "$capsule" "$program" 6 20 >"$work/want" 2>/dev/null
cd "$work/there" || exit 1
mkdir -m 700 "$work/job"
MEND_CAPSULE_DIR=$work/job run "$capsule" "$program" 6 200 >out 2>err </dev/null & job=$!
until [ -s $CHAPTER_FILE ] || ! kill -0 $job 2>/dev/null; do sleep 0.02; done
"$MEND_BUILD/bin/mend" checkpoint "$work/job" --stop --timeout 60 >asked 2>&1 || { echo "FAIL  $mpi: no checkpoint"; cat asked err; exit 1; }
wait $job
cp -a . "$work/saved"
again() { cd "$work/elsewhere" && run "$capsule" --restart "$work/job" 2>err </dev/null | grep io: >out; return "${PIPESTATUS[0]}"; }
said() { grep -c "$1" err | sed 's/^[1-9].*/said/'; }
truncate -s 64 "$work/there/$CHAPTER_FILE"
again; expect "shorter: no result" "$(wc -l <out)" 0
expect "shorter" "$(said 'shorter than when the image was taken')" said
rm -rf "$work/there"; cp -a "$work/saved" "$work/there"; rm "$work/there/$CHAPTER_FILE"
again; expect "gone: no result" "$(wc -l <out)" 0
expect "gone" "$(said 'cannot open it again')" said
rm -rf "$work/there"; cp -a "$work/saved" "$work/there"
again; expect "in its place" $? 0
expect "the same result" "$(cat out)" "$(cat "$work/want")"
expect "nothing in the other folder" "$(find "$work/elsewhere" -name '*:*' | wc -l)" 0
exit $fail
