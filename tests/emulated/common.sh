# Shared by the scripts of this folder. Needs root (or user namespaces) for chroot.
# shellcheck shell=bash disable=SC2034
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd -P)
die() { echo "emulated: $*" >&2; exit 1; }

# The machine that is emulated: the one that this machine is not. Inside it MEND_EMULATED is set (see boot).
case ${MEND_EMULATED:-$(uname -m)} in
    inside) target=$(uname -m) ;;
    x86_64) target=aarch64 ;;
    aarch64) target=x86_64 ;;
    *) target= ;;
esac
[ -z "$target" ] || . "$here/machine.$target"
base=$(readlink -m "${MEND_ENV_DIR:-$top/.env}")/machine-$target
tools=$base/tools guest=$base/guest build=$top/build-$target

# in_tools CMD…: inside the tools' root, with the sources and the guest's root at their usual paths.
in_tools() {
    # shellcheck disable=SC2016
    unshare "${private[@]}" bash -c '
        tools=$1 top=$2 base=$3 target=$4
        shift 4
        mount --rbind /proc "$tools/proc" && mount --rbind /dev "$tools/dev" && mount -t tmpfs tmpfs "$tools/tmp" &&
        mkdir -p "$tools$top" "$tools$base" &&
        mount --rbind "$top" "$tools$top" && mount --rbind "$base" "$tools$base" &&
        exec chroot "$tools" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH="$base/bin:/usr/bin:/usr/sbin" \
            MEND_TARGET="$target" MEND_GUEST="$base/guest" bash -c '\''cd "$0" && exec "$@"'\'' "$top" "$@"' \
        in_tools "$tools" "$top" "$base" "$target" "$@"
}
private=(--mount --propagation private)
[ "$(id -u)" = 0 ] || private+=(--user --map-root-user)
