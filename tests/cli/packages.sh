#!/usr/bin/env bash
# Where the system's own packages would do, env/run names those that are missing in one line that can be run, before it
# fetches anything; where they would not, it does not speak of them.
set -uo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; exit 1; }
mkdir "$scratch/bin"
for p in bash cat cut dirname env sha256sum mkdir flock id ls sed head; do ln -s "$(command -v $p)" "$scratch/bin/"; done
apt_offers() { printf '#!/bin/sh\necho "libopenmpi-dev:"; echo "  Candidate: %s"\n' "$1" >"$scratch/bin/apt-cache"; chmod 755 "$scratch/bin/apt-cache"; }
# there is no compiler on PATH: nothing is ever fetched
said() { env -i PATH="$scratch/bin" MEND_ENV_DIR="$scratch/env" "$MEND_SOURCE/env/run" true 2>&1 && fail "no compiler, no error"; }
line() { sed -n 's/^mend: env: *apt-get install //p' <<<"$1"; }

apt_offers 5.0.7-1
out=$(said)
[ "$(line "$out" | wc -l)" = 1 ] || fail "not one line to run: $out"
for package in gcc cmake libopenmpi-dev openmpi-bin libmpich-dev mpich pkgconf scdoc libpmix-dev libisal-dev libxxhash-dev libzstd-dev \
    libinih-dev libjansson-dev libcmocka-dev elfutils; do
    [ "$(line "$out" | tr ' ' '\n' | grep -cx -e "$package")" = 1 ] || fail "$package is not named once: $out"
done
guide=$(sed -n 's/^apt-get install //p' "$MEND_SOURCE/docs/guide/building.md" | tr ' ' '\n' | grep -vx make | sort)
[ "$guide" = "$(line "$out" | tr ' ' '\n' | sort)" ] || fail "building.md names other packages: $(diff <(line "$out" | tr ' ' '\n' | sort) - <<<"$guide")"
grep -q 'a private copy is fetched now' <<<"$out" || fail "what happens next is not said: $out"

for name in mpicc.openmpi mpirun.openmpi mpicc.mpich mpirun.mpich scdoc gdb cmake; do ln -s /bin/true "$scratch/bin/$name"; done
cat >"$scratch/bin/pkg-config" <<'S'
#!/bin/sh
[ "$2" != inih ]
S
chmod 755 "$scratch/bin/pkg-config"
out=$(said)
[ "$(line "$out")" = "gcc libinih-dev" ] || fail "what is there is named, or what is missing is not: $out"

apt_offers 4.1.4-3
out=$(said)
[ -z "$(line "$out")" ] || fail "an Open MPI without fault tolerance is offered: $out"
grep -q 'gcc is missing' <<<"$out" || fail "unclear: $out"
echo PASS
