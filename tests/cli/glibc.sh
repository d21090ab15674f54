#!/usr/bin/env bash
# Programs of another C library than Mend's: one that the system's own compiler made, which knows nothing of a private
# prefix, runs and survives a kill; one that needs a newer C library than its loader has is refused in a sentence, once,
# and so is one whose
# loader is too old for Mend itself, and nothing else.
set -uo pipefail
scratch=$(mktemp -d)
runner=
trap '[ -z "$runner" ] || kill $runner 2>/dev/null; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
fail() { echo "FAIL: $*"; cat err; exit 1; }
: >err
system() { env -i PATH=/usr/bin:/bin TMPDIR="$scratch" "$@"; }
read -ra headers < <("${PKG_CONFIG:-pkg-config}" --cflags ompi-c)

system gcc -O2 "${headers[@]}" -o steady "$MEND_SOURCE/tests/fault/apps/steady.c" "$MEND_BUILD/lib/mend/openmpi/libmpi.so.40" -lm 2>err ||
    fail "the system's compiler cannot link with our face"
mpicc.openmpi -O2 -o ours "$MEND_SOURCE/tests/fault/apps/steady.c" -lm || exit 1
[ "${MEND_ENV:-}" = native ] || ! cmp -s <(readelf -p .interp steady) <(readelf -p .interp ours) || fail "both programs have the same loader"
mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 3 ./ours 3000 4096 >want || exit 1
system "$MEND" run -n 3 --spares 1 --every 100ms --dir job -- ./steady 3000 4096 >got 2>err &
runner=$!
count() { local n; n=$(grep -c "$1" job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
until [ "$(count '"level":"memory"')" -ge 6 ]; do kill -0 $runner 2>/dev/null || fail "the job ended before its second version"; sleep 0.02; done
kill -9 "$(grep '"rank":1,"event":"recover.playing"' job/events.jsonl | tail -1 | sed 's/.*"pid":\([0-9]*\).*/\1/')" || fail "rank 1 could not be killed"
wait $runner || fail "mend run ended with $?"
runner=
[ "$(count '"how":"resumed"')" -ge 3 ] || fail "nothing was repaired"
cmp got want || fail "the output differs from that of an undisturbed run"
echo "ok: a program of the system's own compiler"

# a C library of the future, to link with
mkdir future
printf 'GLIBC_2.99 { global: from_the_future; };\n' >future/map
printf 'int from_the_future(void) { return 0; }\n' >future/c.c
system gcc -shared -fPIC -nostdlib -Wl,-soname,libc.so.6 -Wl,--version-script=future/map -o future/libc.so.6 future/c.c || exit 1
printf 'int from_the_future(void);\nvoid _start(void) { from_the_future(); for (;;) {} }\n' >new.c
system gcc -nostdlib -o "a new one" new.c future/libc.so.6 || exit 1
for command in "run -n 2 --dir refused --" exec; do
    # shellcheck disable=SC2086
    system "$MEND" $command "./a new one" >out 2>err && fail "mend $command of a program that needs a newer C library ends well"
    [ "$(wc -l <err)" = 1 ] && [ ! -s out ] || fail "mend $command says more than a sentence"
    for word in "./a new one" GLIBC_2.99 ld-linux '`mend cc`'; do grep -qF -- "$word" err || fail "mend $command does not say: $word"; done
done
[ ! -e refused ] || fail "a folder was made for a job that cannot run"

# a loader that is older than Mend's own face needs; one that is asked says so as the real ones do
cat >"an old loader" <<'LOADER'
#!/bin/sh
[ "$1 $3" = "--preload --list" ] || exit 127
echo "$4: /lib/libc.so.6: version \`GLIBC_2.38' not found (required by $2)" >&2
exit 1
LOADER
chmod 755 "an old loader"
system gcc -O2 -Wl,--dynamic-linker="$PWD/an old loader" "${headers[@]}" -o old "$MEND_SOURCE/tests/fault/apps/steady.c" "$MEND_BUILD/lib/mend/openmpi/libmpi.so.40" -lm || exit 1
for command in "run -n 2 --dir refused --" exec; do
    # shellcheck disable=SC2086
    system "$MEND" $command ./old >out 2>err && fail "mend $command with an old loader ends well"
    [ "$(wc -l <err)" = 1 ] && [ ! -s out ] || fail "mend $command says more than a sentence"
    grep -qF "./old uses the C library of $PWD/an old loader, which is too old: Mend needs GLIBC_2.38; compile the program with \`mend cc\`" err || fail "mend $command does not name the loader"
done
[ ! -e refused ] || fail "a folder was made for a job that cannot run"

# a damaged program is not taken for an old one, whatever stands where its loader should
for cut in 0 20 63 64 100 600; do
    head -c $cut steady >cut; chmod 755 cut
    (timeout 60 "$MEND" exec ./cut) >out 2>err </dev/null && fail "a program of $cut bytes ends well"
    grep -q GLIBC err && fail "a program of $cut bytes is called old"
done
for where in 32 54 56 64 120 136 152; do # the headers' place, size and number; kinds; the loader's place and length
    cp steady damaged
    printf '\377\377\377\377\377\377\377\377' | dd of=damaged bs=1 seek=$where conv=notrunc status=none
    (timeout 60 "$MEND" exec ./damaged 1) >out 2>err </dev/null
    grep -q GLIBC err && fail "a program with a damaged header at $where is called old"
done
echo PASS
