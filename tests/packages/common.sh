# Shared by the tests of packages and of containers: clean Debian systems below the folder $base, and commands inside them.
# shellcheck shell=bash
fail() { echo "FAIL: $*"; exit 1; }
skip() { echo "SKIP: $*"; exit 77; }
mkdir -p "${base:?a folder for the systems}" || fail "no folder $base"
[ "$(id -u)" = 0 ] || skip "only root can install a Debian into a folder"
unshare --mount --pid --fork true 2>/dev/null || skip "namespaces are not allowed here"

system() { "$MEND_SOURCE/tests/harness/debian-system" "$@" >"$base/log" 2>&1 || skip "no Debian 13 can be had here: $(tail -1 "$base/log")"; }
# inside ROOT COMMAND…: with /proc and shared memory of its own; what it leaves running or mounted ends with it. ROOT is a
# mount of its own, so that containers can be run inside it.
inside() {
    local root=$1
    shift
    unshare --mount --pid --ipc --fork --kill-child -- bash -c 'set -e; root=$1; shift; mount --make-rprivate /; mount --bind "$root" "$root"
        mount -t proc proc "$root/proc"; mount --rbind /sys "$root/sys"; mkdir -p "$root/dev/shm"; mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
        ln -sfn /proc/self/fd "$root/dev/fd"
        exec chroot "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"' _ "$root" "$@"
}
# source_into DIR: the files that git knows, as they are in this folder now
source_into() {
    rm -rf "$1" && mkdir "$1" &&
        (cd "$MEND_SOURCE" && git ls-files -z | tar -cf - --no-recursion --null -T -) | tar -xf - -C "$1" || fail "the source cannot be copied"
}
# as_user ROOT SCRIPT: a plain user in a new home; SCRIPT is in the root
as_user() {
    inside "$1" bash -c 'rm -rf /tmp/home; mkdir /tmp/home; chown 1000:1000 /tmp/home; cd /tmp/home &&
        HOME=/tmp/home exec setpriv --reuid=1000 --regid=1000 --clear-groups bash "$1"' _ "$2"
}
