#!/usr/bin/env bash
# The private prefix: built once by two callers at once, built again after a kill in the middle, and
# one clear sentence when it cannot be had. Uses the packages that are here already, no network.
set -uo pipefail
[ "${MEND_ENV:-}" = prefix ] || { echo "SKIP: this system has all that is needed, there is no private prefix"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; exit 1; }

# the compilers' plain names and those of each MPI
printf '#include <mpi.h>\nint main(int n, char **v) { MPI_Init(&n, &v); return MPI_Finalize(); }\n' >"$scratch/hello.c"
for compiler in mpicc mpicc.openmpi mpicc.mpich; do
    $compiler "$scratch/hello.c" -o "$scratch/hello" || fail "$compiler does not compile"
    launcher=${compiler/mpicc/mpirun}
    $launcher -n 1 "$scratch/hello" || fail "what $compiler made does not run with $launcher"
done

# a small recipe: a copy of env/ whose list holds a few packages
cp -r "$MEND_SOURCE/env" "$scratch/env"
printf '%s\n' libc6 patchelf libgcc-s1 libstdc++6 zlib1g libzstd1 >"$scratch/env/packages"
. "$scratch/env/common.sh"
base=$scratch/.env
debs() { echo "debs-$(key "$1/packages" "$1/packages.left-out")"; }
store=$base/$(debs "$scratch/env")
fill() {
    mkdir -p "$store"
    while read -r name; do cp "${MEND_ENV_PREFIX%/*}/$(debs "$MEND_SOURCE/env")/${name}"_*.deb "$store/"; done <"$scratch/env/packages"
    : >"$store/complete"
}
fill
clean() { env -u MEND_ENV_ENTERED -u MEND_ENV_DIR -u MEND_ENV_PREFIX "$@"; }
prefix=$base/$(recipe_key "$scratch/env")

# two callers at once: one builds, both run
clean "$scratch/env/run" echo one >"$scratch/1" 2>&1 & first=$!
clean "$scratch/env/run" echo two >"$scratch/2" 2>&1 & second=$!
wait $first && wait $second || fail "a caller failed: $(cat "$scratch"/[12])"
[ "$(cat "$scratch"/[12] | grep -c unpacking)" = 1 ] || fail "it was not built exactly once: $(cat "$scratch"/[12])"
grep -q one "$scratch/1" && grep -q two "$scratch/2" || fail "a command did not run"
[ "$(cat "$scratch"/[12] | grep -c downloading)" = 0 ] || fail "packages that are here were downloaded again"

# what a module has set for the system's compiler does not reach the prefix's
out=$(CC=/usr/bin/gcc CPATH=/usr/include LIBRARY_PATH=/usr/lib clean "$scratch/env/run" sh -c 'echo "$CC ${CPATH-none} ${LIBRARY_PATH-none}"')
[ "$out" = "cc none none" ] || fail "the user's compiler and folders are used with the prefix: $out"

# a kill at several moments of the build: the next caller builds it again, whole
for delay in 0.02 0.2 0.5 1; do
    rm -rf "$prefix"
    set -m
    clean "$scratch/env/run" true >/dev/null 2>&1 & group=$!
    set +m
    sleep $delay
    kill -KILL -- "-$group" 2>/dev/null
    wait $group 2>/dev/null
    clean "$scratch/env/run" true 2>"$scratch/log" || fail "after a kill at $delay s: $(cat "$scratch/log")"
    [ -e "$prefix/ready" ] && [ -x "$prefix/bin/cc" ] && [ -e "$prefix/root/usr/bin/patchelf" ] || fail "half-built after a kill at $delay s"
done

# another recipe gets another folder, and the first stays
echo '# changed' >>"$scratch/env/wrap/driver"
clean "$scratch/env/run" true 2>/dev/null || fail "the changed recipe was not built"
[ -e "$prefix/ready" ] && [ -e "$base/$(recipe_key "$scratch/env")/ready" ] || fail "the old prefix was removed"

# what nobody used for a day goes with the next build
touch -d '2 days ago' "$prefix/used" "$prefix"
echo '# changed again' >>"$scratch/env/wrap/driver"
clean "$scratch/env/run" true 2>/dev/null || fail "the third recipe was not built"
[ ! -e "$prefix" ] || fail "an unused prefix stayed"

# no mirror, no folder: one sentence, exit code 1
rm -rf "$base"
out=$(MEND_ENV_MIRROR=http://localhost:9/debian clean "$scratch/env/run" true 2>&1) && fail "no mirror, no error"
grep -q 'mirror does not answer' <<<"$out" || fail "unclear: $out"
# apt without lists, as before the first apt-get update: the mirror is the one that it would ask; and there may be none
mkdir "$scratch/apt"
printf '#!/bin/sh\ncase $* in *indextargets*) ;; *--print-uris*) echo "$WOULD_ASK" ;; *) exec %s "$@" ;; esac\n' "$(command -v apt-get)" >"$scratch/apt/apt-get"
chmod 755 "$scratch/apt/apt-get"
out=$(WOULD_ASK="'http://localhost:9/debian/dists/trixie/InRelease' x 0" PATH=$scratch/apt:$PATH clean "$scratch/env/run" true 2>&1) && fail "no mirror, no error"
grep -q 'mirror does not answer: .*http://localhost:9/debian/dists/trixie' <<<"$out" || fail "apt without lists: $out"
rm -rf "$base"
out=$(WOULD_ASK='' PATH=$scratch/apt:$PATH clean "$scratch/env/run" true 2>&1) && fail "no mirror, no error"
grep -q "^mend: env: this machine's apt names no mirror" <<<"$out" || fail "apt names no mirror: $out"
out=$(MEND_ENV_DIR=/proc/no/such env -u MEND_ENV_ENTERED -u MEND_ENV_PREFIX "$scratch/env/run" true 2>&1) && fail "no folder, no error"
[ "$out" = "mend: env: cannot write to /proc/no/such" ] || fail "unclear: $out"
PATH=/nonexistent /bin/bash "$scratch/env/run" true >/dev/null 2>&1 && fail "no programs, no error"
mkdir "$scratch/bin"
for p in bash cat cut dirname sha256sum mkdir flock id ls sed head; do ln -s "$(command -v $p)" "$scratch/bin/"; done
out=$(PATH=$scratch/bin /usr/bin/env -u MEND_ENV_ENTERED -u MEND_ENV_PREFIX "$scratch/env/run" true 2>&1) && fail "no compiler, no error"
grep -q '^mend: env: gcc is missing' <<<"$out" || fail "unclear: $out"
echo PASS
