#!/usr/bin/env bash
# The recipes for containers, made without a registry: from a clean Debian 13, by a Podman in another one.
#   1. Podman builds contrib/container/Dockerfile; what git and `make` leave in the source does not get into it.
#   2. In a container, with what Podman allows by default, the image's user compiles a program, and its job survives a
#      kill -9 with the output of an undisturbed run (plain-user).
#   3. mend.def gives the same packages and the same files, and its command works. Apptainer is not in Debian: its part of
#      the work is done by apptainer-build.
# Needs root and a package mirror. The two systems are kept in the build folder; images are not (after a hang, until the next run).
set -uo pipefail
base=$MEND_BUILD/container here=$MEND_SOURCE/tests/packages
. "$here/common.sh"
podman=$base/podman debian=$base/debian source=$base/podman/source sif=$base/apptainer
clean() { rm -rf "$sif".* "$source" "$podman/test" "$podman"/var/lib/containers "$podman"/var/tmp/*; }
# podman COMMAND…: in the folder of the source, by a Podman that knows its images and nothing else of earlier commands
podman() { inside "$podman" bash -c 'rm -rf /run/* && mount -t cgroup2 cgroup2 /sys/fs/cgroup && cd /source && exec podman "$@"' podman "$@"; }
# in_image IMAGE COMMAND…: in a new container. What a machine in a machine may not allow is not asked for: control groups, higher limits.
in_image() { podman run --rm --pull=never --network host --cgroups disabled --ulimit host --volume /test:/test:ro "$@"; }
limit() { ulimit -H"$1" | sed 's/unlimited/-1/'; }
image() { podman build --pull=never --network host --isolation chroot --ulimit nofile="$(limit n)" --ulimit nproc="$(limit u)" -f contrib/container/Dockerfile "$@" .; }

# what the mirror of this machine's apt has, as the image debian:13-slim: without documentation, with no user but root
system "$podman" podman crun mount
system "$debian" apt debian-archive-keyring
clean
trap clean EXIT
echo "deb ${MEND_ENV_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' | grep -v security | sort -u | head -1)} trixie main" >"$debian/etc/apt/sources.list"
sed -i '/^user:/d' "$debian"/etc/{passwd,group}
slim=(doc groff info linda lintian locale man)
(cd "$debian/usr/share" && rm -rf "${slim[@]}") && { echo force-unsafe-io; printf 'path-exclude /usr/share/%s/*\n' "${slim[@]}"; } >"$debian/etc/dpkg/dpkg.cfg.d/docker" || fail "no slim Debian"
cp "$debian/usr/share/libc-bin/nsswitch.conf" /etc/resolv.conf "$debian/etc/"
cp /etc/resolv.conf "$podman/etc/"
inside "$debian" apt-get -o APT::Update::Error-Mode=any update >"$base/log" 2>&1 || skip "the package mirror does not answer from a folder: $(tail -1 "$base/log")"
rm -rf "$debian"/var/lib/apt/lists/*
source_into "$source"
mkdir "$podman/test" && cp "$here/plain-user" "$MEND_SOURCE/tests/fault/apps/"{steady.c,until.h} "$podman/test/" || fail "the test cannot be copied"
tar -C "$debian" --exclude='./dev/*' --exclude=./.ready -cf - . | podman import - debian:13-slim >"$base/log" 2>&1 || skip "Podman does not work here: $(tail -1 "$base/log")"
in_image debian:13-slim true >"$base/log" 2>&1 || skip "Podman runs no containers here: $(tail -1 "$base/log")"

left=(.env .git build build-debug)
(cd "$source" && mkdir "${left[@]}" && touch "${left[@]/%//file}") || fail "the source cannot be changed"
image -t mend >"$base/build.log" 2>&1 || { tail -40 "$base/build.log"; fail "Podman cannot build the image"; }
image --target build -t built >"$base/log" 2>&1 && in_image built ls -A /source >"$base/copied" 2>"$base/log" || fail "the first stage: $(tail -1 "$base/log")"
grep -qx CMakeLists.txt "$base/copied" || fail "the source is not in the first stage"
! grep -xF "$(printf '%s\n' "${left[@]}")" "$base/copied" || fail "Dockerfile.dockerignore does not keep that out"
(cd "$source" && rm -r "${left[@]}")

in_image mend mend doctor >"$base/doctor" 2>&1 || { cat "$base/doctor"; fail "mend doctor"; }
in_image mend bash /test/plain-user >"$base/use.log" 2>&1 || { tail -40 "$base/use.log"; fail "the image's user"; }

(cd "$source" && "$here/apptainer-build" contrib/container/mend.def "$debian" "$sif") >"$base/apptainer.log" 2>&1 || { tail -40 "$base/apptainer.log"; fail "mend.def"; }
contents='dpkg-query -W && cd /usr/local && find . -type l -printf "%p -> %l\n" | sort && find . -type f -print0 | sort -z | xargs -0 sha256sum'
in_image mend sh -c "$contents" >"$base/contents" 2>"$base/log" && inside "$sif.final" sh -c "$contents" >"$base/contents.def" || fail "the contents: $(tail -1 "$base/log")"
diff "$base/contents" "$base/contents.def" || fail "mend.def gives something else than the Dockerfile (above)"
inside "$sif.final" setpriv --reuid=1000 --regid=1000 --clear-groups sh -c 'cd /tmp && exec sh /.singularity.d/runscript doctor' >"$base/doctor" 2>&1 || { cat "$base/doctor"; fail "the command of mend.def"; }
echo PASS
