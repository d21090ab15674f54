#!/usr/bin/env bash
# The Debian packages: built by dpkg-buildpackage in a clean Debian 13, installed into another one, and used there by a
# plain user whose job survives a kill; then removed without a rest. Needs root and a package mirror. The two systems are
# kept in the build folder.
set -uo pipefail
base=$MEND_BUILD/debian
. "$MEND_SOURCE/tests/packages/common.sh"

build=$base/system use=$base/use
system "$build" build-essential debhelper cmake pkgconf gfortran scdoc libopenmpi-dev openmpi-bin libmpich-dev mpich libpmix-dev \
    libisal-dev libxxhash-dev libzstd-dev libinih-dev libjansson-dev procps
rm -rf "$build"/*.deb
source_into "$build/source"
inside "$build" bash -c 'cd /source && dpkg-buildpackage -b -us -uc -j2' >"$base/build.log" 2>&1 || { tail -40 "$base/build.log"; fail "dpkg-buildpackage"; }
for p in mend libmend0 libmend-dev mend-doc; do ls "$build/${p}_"*.deb >/dev/null || fail "no package $p"; done

system "$use" gcc libc6-dev procps mpich openmpi-bin libopenmpi-dev libpmix-dev libisal-dev libxxhash-dev libzstd-dev libinih-dev libjansson-dev pkgconf
cp "$build"/{mend,libmend0,libmend-dev,mend-doc}_*.deb "$use/tmp/"
inside "$use" bash -c 'dpkg -P mend libmend-dev libmend0 mend-doc; find / -xdev -path /tmp -prune -o -path /var -prune -o -path /proc -prune -o -print | sort >/tmp/before; dpkg -i /tmp/*.deb' >"$base/install.log" 2>&1 || { tail -20 "$base/install.log"; fail "dpkg -i"; }
cp "$MEND_SOURCE/tests/fault/apps/"{steady.c,until.h} "$MEND_SOURCE/tests/packages/plain-user" "$use/tmp/"
as_user "$use" /tmp/plain-user >"$base/use.log" 2>&1 ||
    { tail -40 "$base/use.log"; fail "a plain user"; }
ls "$use"/usr/share/doc/mend-doc/guide/README.md* >/dev/null || fail "mend-doc: no guide"
inside "$use" bash -c 'dpkg -P mend libmend-dev libmend0 mend-doc && find / -xdev -path /tmp -prune -o -path /var -prune -o -path /proc -prune -o -print | sort >/tmp/after && diff /tmp/before /tmp/after' >"$base/remove.log" 2>&1 ||
    { tail -20 "$base/remove.log"; fail "something is left after dpkg -P"; }
rm -f "$use"/tmp/*.deb
echo PASS
