# Shared by env/run, env/prefix and env/tools: words, the recipe's key, packages, relocation.
# shellcheck shell=bash
die() { printf 'mend: env: %s\n' "$*" >&2; exit 1; }
say() { printf 'mend: env: %s\n' "$*" >&2; }
need() { command -v "$1" >/dev/null || die "$1 is missing: install it with your system's package manager ($2)"; }

# The folder's name for a recipe: a changed recipe gets a new folder, and what runs from the old one goes on.
key() { cat "$@" | sha256sum | cut -c1-12; }
recipe_key() { key "$1/packages" "$1/prefix" "$1/common.sh" "$1"/wrap/*; }
tools_key() { key "$1/packages.tools" "$1/tools" "$1/common.sh"; }

names_in() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$1"; }

# fetch_packages LIST STORE: download LIST's packages of Debian 13 into STORE/, by a private apt (own
# lists, own cache, no root) from the mirror that this machine's apt already uses.
# STORE/complete is written last; a store that has it is used as it is, without a network.
fetch_packages() {
    local list=$1 store=$2 apt=$2/apt mirror names keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    [ -e "$store/complete" ] && return 0
    need apt-get "this is not a Debian system: install Open MPI 5, MPICH and the libraries of env/packages by hand"
    rm -rf "$store"
    mkdir -p "$apt"/etc/apt/{apt.conf.d,preferences.d} "$apt"/var/lib/apt/lists/partial \
        "$apt"/var/cache/apt/archives/partial "$apt"/var/lib/dpkg || die "cannot write to $store"
    : >"$apt/var/lib/dpkg/status"
    mirror=${MEND_ENV_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null |
        grep -v security | sort -u | head -1)}
    [ -n "$mirror" ] || die "this machine's apt names no mirror (apt-get indextargets is empty)"
    [ -r "$keyring" ] || die "$keyring is missing: apt-get install debian-archive-keyring"
    echo "deb [signed-by=$keyring] $mirror trixie main" >"$apt/etc/apt/sources.list"
    local options=(-o Dir="$apt" -o Dir::Etc="$apt/etc/apt" -o Dir::State="$apt/var/lib/apt"
        -o Dir::State::status="$apt/var/lib/dpkg/status" -o Dir::Cache="$apt/var/cache/apt"
        -o APT::Sandbox::User= -o Acquire::Languages=none -o Acquire::Retries=3)
    say "1/3 reading Debian 13's package list"
    apt-get "${options[@]}" -qq update >"$store/log" 2>&1 && ! grep -q '^W: Failed to fetch' "$store/log" ||
        die "the package mirror does not answer: $(grep -m1 '^[EW]:' "$store/log" || tail -1 "$store/log")"
    names=$(names_in "$list")
    say "2/3 downloading $(wc -w <<<"$names") packages"
    # shellcheck disable=SC2086
    (cd "$store" && apt-get "${options[@]}" -qq download $names >>"$store/log" 2>&1) ||
        die "a package could not be downloaded: $(grep -m1 '^[EW]:' "$store/log" || tail -1 "$store/log")"
    rm -rf "$apt" "$store/log"
    : >"$store/complete"
}

# unpack STORE ROOT
unpack() {
    local deb
    mkdir -p "$2"
    for deb in "$1"/*.deb; do dpkg-deb -x "$deb" "$2" || die "cannot unpack ${deb##*/} (is the disk full?)"; done
    [ -e "$2/lib" ] || ln -s usr/lib "$2/lib"
    [ -e "$2/lib64" ] || ln -s usr/lib "$2/lib64"
}

find_loader() {
    find "$1"/usr/lib "$1"/usr/lib64 "$1"/usr/lib/*-linux-gnu -maxdepth 1 -name "ld-linux-*.so.?" 2>/dev/null | head -1 || :
}

# relocate ROOT LOADER RPATH: every program gets the prefix's own ld.so as interpreter, every object an
# RPATH into the prefix, so that nothing of the host's libraries is loaded.
relocate() {
    local root=$1 loader=$2 rpath=$3 f
    patch() { "$loader" --library-path "$rpath" "$root/usr/bin/patchelf" "$@"; }
    while IFS= read -r f; do
        case $f in */ld-linux* | */libc.so.6 | */gconv/* | */libm.so* | */libpthread* | */lib*san.so*) continue ;; esac
        patch --force-rpath --set-rpath "$rpath" "$f" 2>/dev/null || :
    done < <(find "$root"/usr/lib -type f -name '*.so*' -size +0)
    while IFS= read -r f; do
        [ "$(head -c4 "$f" | tail -c3)" = ELF ] || continue
        [ "${f##*/}" = patchelf ] && continue
        patch --set-interpreter "$loader" --force-rpath --set-rpath "$rpath" "$f" 2>/dev/null || :
    done < <(find "$root"/usr/bin "$root"/usr/sbin "$root"/usr/lib/llvm-*/bin -maxdepth 1 -type f 2>/dev/null)
    # the packages believe to be in /usr
    while IFS= read -r f; do
        sed -E -i "s#(=|[[:space:]]|-I|-L)/usr#\\1$root/usr#g" "$f"
    done < <(find "$root"/usr/lib "$root"/usr/share -path '*/pkgconfig/*.pc' -type f)
    # absolute links of -dev packages would lead out of the prefix
    while IFS= read -r f; do
        case $(readlink "$f") in /*) ln -sfn "$root$(readlink "$f")" "$f" ;; esac
    done < <(find "$root/usr/lib" "$root/etc/alternatives" -type l 2>/dev/null)
}

# Prefixes of other recipes, and their packages, that nobody has used for a day.
remove_unused() {
    local base=$1 keep=$2 d
    for d in "$base"/[0-9a-f]* "$base"/tools-* "$base"/debs-*; do
        [ -d "$d" ] && [ "$d" != "$keep" ] || continue
        [ -z "$(find "$d/used" -maxdepth 0 -mmin -1440 2>/dev/null)" ] || continue
        [ -z "$(find "$d" -maxdepth 0 -mmin -1440)" ] || continue
        rm -rf "$d"
    done
}
