# Shared by the scripts of this folder. Needs root (or user namespaces) for chroot.
# shellcheck shell=bash
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd -P)
base=$(readlink -m "${MEND_ENV_DIR:-$top/.env}")/x86_64
tools=$base/tools guest=$base/guest build=$top/build-x86_64
die() { echo "x86_64: $*" >&2; exit 1; }

# in_tools CMD…: inside the tools' root, with the sources and the guest's root at their usual paths.
in_tools() {
    # shellcheck disable=SC2016
    unshare "${private[@]}" bash -c '
        tools=$1 top=$2 base=$3
        shift 3
        mount --rbind /proc "$tools/proc" && mount --rbind /dev "$tools/dev" && mount -t tmpfs tmpfs "$tools/tmp" &&
        mkdir -p "$tools$top" "$tools$base" &&
        mount --rbind "$top" "$tools$top" && mount --rbind "$base" "$tools$base" &&
        exec chroot "$tools" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH="$base/bin:/usr/bin:/usr/sbin" \
            MEND_X86_GUEST="$base/guest" bash -c '\''cd "$0" && exec "$@"'\'' "$top" "$@"' in_tools "$tools" "$top" "$base" "$@"
}
private=(--mount --propagation private)
[ "$(id -u)" = 0 ] || private+=(--user --map-root-user)
