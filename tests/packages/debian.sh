#!/usr/bin/env bash
# The Debian packages: built by dpkg-buildpackage in a clean Debian 13, installed into another one, and used there by a
# plain user whose job survives a kill; then removed without a rest. Needs root and a package mirror. The two systems are
# kept in the build folder.
set -uo pipefail
fail() { echo "FAIL: $*"; exit 1; }
skip() { echo "SKIP: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "only root can install a Debian into a folder"
unshare --mount --pid --fork true 2>/dev/null || skip "namespaces are not allowed here"
base=$MEND_BUILD/debian
mkdir -p "$base"
system() { "$MEND_SOURCE/tests/harness/debian-system" "$@" >"$base/log" 2>&1 || skip "no Debian 13 can be had here: $(tail -1 "$base/log")"; }
# inside ROOT COMMAND…: with /proc and shared memory of its own; what it leaves running ends with it
inside() {
    local root=$1
    shift
    unshare --mount --pid --ipc --fork --kill-child -- bash -c 'set -e; root=$1; shift; mount --make-rprivate /
        mount -t proc proc "$root/proc"; mount --rbind /sys "$root/sys"; mkdir -p "$root/dev/shm"; mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
        exec chroot "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"' _ "$root" "$@"
}

build=$base/system use=$base/use
system "$build" build-essential debhelper cmake pkgconf gfortran scdoc libopenmpi-dev openmpi-bin libmpich-dev mpich libpmix-dev \
    libisal-dev libxxhash-dev libzstd-dev libinih-dev libjansson-dev procps
rm -rf "$build/source" "$build"/*.deb
mkdir "$build/source"
(cd "$MEND_SOURCE" && git ls-files -z | tar -cf - --no-recursion --null -T -) | tar -xf - -C "$build/source" || fail "the source cannot be copied"
inside "$build" bash -c 'cd /source && dpkg-buildpackage -b -us -uc -j2' >"$base/build.log" 2>&1 || { tail -40 "$base/build.log"; fail "dpkg-buildpackage"; }
for p in mend libmend0 libmend-dev mend-doc; do ls "$build/${p}_"*.deb >/dev/null || fail "no package $p"; done

system "$use" gcc libc6-dev procps mpich openmpi-bin libopenmpi-dev libpmix-dev libisal-dev libxxhash-dev libzstd-dev libinih-dev libjansson-dev pkgconf
cp "$build"/{mend,libmend0,libmend-dev,mend-doc}_*.deb "$use/tmp/"
inside "$use" bash -c 'dpkg -P mend libmend-dev libmend0 mend-doc; find / -xdev -path /tmp -prune -o -path /var -prune -o -path /proc -prune -o -print | sort >/tmp/before; dpkg -i /tmp/*.deb' >"$base/install.log" 2>&1 || { tail -20 "$base/install.log"; fail "dpkg -i"; }
cp "$MEND_SOURCE/tests/fault/apps/"{steady.c,until.h} "$MEND_SOURCE/tests/packages/plain-user" "$use/tmp/"
inside "$use" bash -c 'rm -rf /tmp/home; mkdir /tmp/home; chown 1000:1000 /tmp/home; cd /tmp/home && HOME=/tmp/home exec setpriv --reuid=1000 --regid=1000 --clear-groups bash /tmp/plain-user' >"$base/use.log" 2>&1 ||
    { tail -40 "$base/use.log"; fail "a plain user"; }
inside "$use" bash -c 'dpkg -P mend libmend-dev libmend0 mend-doc && find / -xdev -path /tmp -prune -o -path /var -prune -o -path /proc -prune -o -print | sort >/tmp/after && diff /tmp/before /tmp/after' >"$base/remove.log" 2>&1 ||
    { tail -20 "$base/remove.log"; fail "something is left after dpkg -P"; }
rm -f "$use"/tmp/*.deb
echo PASS
