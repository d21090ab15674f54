#!/usr/bin/env bash
# Programs written for Fenix, in C and C++, are built against an installed copy by pkg-config mend-fenix and
# survive what they are made to survive.
set -uo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; exit 1; }
quiet() { "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "$*"; }; }
quiet cmake --install "$MEND_BUILD" --prefix "$scratch/usr"
lib=$(dirname "$(find "$scratch/usr" -name libmend.so | head -1)")
export PKG_CONFIG_PATH=$lib/pkgconfig TMPDIR=$scratch
pc=${PKG_CONFIG:-pkg-config}
# shellcheck disable=SC2046
quiet "${CC:-cc}" -Wall -Wextra -Werror "$MEND_SOURCE/tests/cli/fenix/cases.c" -o "$scratch/cases" $($pc --cflags --libs mend-fenix) -Wl,-rpath,"$lib"
# shellcheck disable=SC2046
quiet "${CXX:-c++}" -Wall -Wextra -Werror -fexceptions "$MEND_SOURCE/tests/cli/fenix/throw.cpp" -o "$scratch/throw" $($pc --cflags --libs mend-fenix) -Wl,-rpath,"$lib"
mapfile -t launch < <(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$MEND_SOURCE/share/launch/openmpi" "$MEND_SOURCE/share/launch/openmpi-one-node")
run() { # NP PROGRAM ARGS
    local np=$1; shift
    "$MEND_SOURCE/tests/harness/within" 120 mpirun.openmpi "${launch[@]}" -n "$np" "$@" >"$scratch/out" 2>&1 </dev/null
    [ "$(grep -c '^PASS' "$scratch/out")" = 1 ] || { cat "$scratch/out"; fail "$*"; }
    echo "$*: right"
}
cd "$scratch" || exit 1
run 6 ./cases exhaustion
run 6 ./cases failed_spare
run 4 ./cases pending_send
run 6 ./cases subset
run 6 ./cases double_failure
run 5 ./cases no_jump
run 5 ./throw
echo PASS
