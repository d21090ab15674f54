#!/usr/bin/env bash
# README alone: in a clean Debian 13 with what README asks for and no more, a plain user clones the repository, runs
# README's shell blocks in their order (without make check, the suite that this test is part of), kills a rank as README
# says, and gets the output of a native run. All of that, the build included, takes less than 15 minutes of a quiet
# machine. Needs root and a package mirror. The system is kept in the build folder.
set -uo pipefail
base=$MEND_BUILD/debian
. "$MEND_SOURCE/tests/packages/common.sh"
. "$MEND_SOURCE/tests/harness/yardstick"
git -C "$MEND_SOURCE" rev-parse -q --verify HEAD >/dev/null 2>&1 || skip "the source is no git repository"
mirror=${MEND_ENV_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -v security | sort -u | head -1)}
[ -n "$mirror" ] || skip "this machine's apt names no mirror"

fresh=$base/fresh
system "$fresh" gcc libc6-dev make cmake apt debian-archive-keyring git procps # git for the clone, pgrep for the kill
echo "deb $mirror trixie main" >"$fresh/etc/apt/sources.list" # as the installer does
cp /etc/resolv.conf "$fresh/etc/resolv.conf"
sed -i 's/^hosts:.*/hosts: files dns/' "$fresh/etc/nsswitch.conf"
rm -rf "$fresh/srv/mend.git"
mkdir -p "$fresh/srv"
git clone -q --bare "$MEND_SOURCE" "$fresh/srv/mend.git" && chown -R 1000:1000 "$fresh/srv/mend.git" || fail "git clone --bare"
cp "$MEND_SOURCE/tests/packages/reader" "$fresh/tmp/reader"

clock_start
as_user "$fresh" /tmp/reader >"$base/readme.log" 2>&1 </dev/null &
reader=$!
while kill -0 $reader 2>/dev/null; do nap 1000; clock_read; done
wait $reader; code=$?
[ $code = 0 ] || { grep -v '^\[ *[0-9]*%\]' "$base/readme.log" | tail -40; fail "a reader of README: code $code"; }
grep '^step:' "$base/readme.log"
echo "all of it: $((clock / 1000)) s of a quiet machine, $SECONDS s here"
[ "$clock" -lt 900000 ] || fail "README took more than 15 minutes of a quiet machine"
rm -rf "$fresh/tmp/home" "$fresh/srv/mend.git"
echo PASS
