#!/usr/bin/env bash
# process_asan.sh SOURCE RECOVERIES FIRST_SEED: the process layer with the address and undefined behaviour
# sanitizers, under real deaths. MPI itself is not instrumented, and what it leaks is not ours: leaks are
# not looked for.
set -uo pipefail
source=$1 wanted=$2 seed=$3
here=$(cd "$(dirname "$0")" && pwd)
includes=(-I"$source/include" -I"$source/src/base/include" -I"$source/src/process" -I"$source/src/process/include" -I"$source/src/ulfm/include")
build() { # NAME SOURCES
    local name=$1; shift
    # shellcheck disable=SC2046
    "${CC:-cc}" -std=gnu17 -D_GNU_SOURCE -g -O1 -fsanitize=address,undefined -fno-omit-frame-pointer \
        -fno-sanitize-recover=undefined "${includes[@]}" $(${PKG_CONFIG:-pkg-config} --cflags ompi-c inih libxxhash) -o "$MEND_TEST_DIR/$name" \
        "$@" "$source"/src/process/*.c "$source"/src/ulfm/*.c "$source"/src/base/*.c $(${PKG_CONFIG:-pkg-config} --libs ompi-c inih libxxhash) -lpthread -ldl
}
echo 'int main(void) { return 0; }' >"$MEND_TEST_DIR/probe.c"
"${CC:-cc}" -fsanitize=address,undefined -o "$MEND_TEST_DIR/probe" "$MEND_TEST_DIR/probe.c" 2>/dev/null && "$MEND_TEST_DIR/probe" ||
    { echo "SKIP: no address sanitizer here"; exit 77; }
build campaign "$here/process_campaign.c" || exit 1
build cases "$here"/process_cases*.c || exit 1
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:log_path=$MEND_TEST_DIR/asan UBSAN_OPTIONS=print_stacktrace=1:log_path=$MEND_TEST_DIR/ubsan
# Open MPI and UCX follow memory by writing jumps into the first bytes of mmap, munmap and others. Here these are
# the sanitizer's own entries, which are shorter than the jump on aarch64: MPI_Init crashes. Nobody needs it.
export OMPI_MCA_memory=^patcher OMPI_MCA_patcher=^overwrite UCX_MEM_EVENTS=no UCX_HANDLE_ERRORS=none
clean() { ! compgen -G "$MEND_TEST_DIR/*san.*" >/dev/null || { head -60 "$MEND_TEST_DIR"/*san.*; exit 1; }; }
one() { # NP SPARES ARGS: one case
    local np=$1 spares=$2; shift 2
    rm -f "$MEND_TEST_DIR/marker.one"
    # shellcheck disable=SC2086
    MEND_TEST_NP=$np MEND_TEST_SPARES=$spares MEND_TEST_MARKER=$MEND_TEST_DIR/marker.one "$MEND_SOURCE/tests/harness/within" 200 $MEND_MPIRUN \
        -n $((np + spares)) "$MEND_TEST_DIR/cases" "$@" >"$MEND_TEST_DIR/output" 2>&1 </dev/null
    clean
    grep -q PASS "$MEND_TEST_DIR/marker.one" || { echo "$* has failed"; tail -20 "$MEND_TEST_DIR/output"; exit 1; }
}
one 4 0 wrong
one 4 2 rank_zero
one 4 2 callbacks
one 4 2 builders
one 3 2 again_and_again
one 4 1 requests
one 4 1 derived create_group
one 4 1 derived intercomm
one 6 2 making split
MEND_FAULT=process.meet.vote:rank=2:hit=2:kill one 4 3 in_repair
MEND_FAULT=process.finalize.passed:rank=0:kill one 4 2 at_the_end
bash "$here/process_campaign.sh" "$MEND_TEST_DIR/campaign" "$wanted" "$seed" 4+2 6+2 || { clean; exit 1; }
clean
