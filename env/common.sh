# Shared by env/run, env/prefix and env/tools: words, the recipe's key, packages, relocation.
# shellcheck shell=bash
die() { printf 'mend: env: %s\n' "$*" >&2; exit 1; }
say() { printf 'mend: env: %s\n' "$*" >&2; }
need() { command -v "$1" >/dev/null || die "$1 is missing: install it with your system's package manager ($2)"; }

# The folder's name for a recipe: a changed recipe gets a new folder, and what runs from the old one goes on.
key() { cat "$@" | sha256sum | cut -c1-12; }
recipe_key() { key "$1"/packages "$1"/packages.left-out "$1/prefix" "$1/common.sh" "$1"/wrap/*; }
tools_key() { key "$1"/packages.tools "$1"/packages.tools.left-out "$1/tools" "$1/common.sh"; }

# A text as it must stand on the right side of sed's s|…|…|: a path may have any character.
for_sed() { printf '%s' "$1" | sed -e 's/[&|#\\]/\\&/g'; }

names_in() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$1"; }

# A dpkg status file in which every package of LIST (those left out) is installed already: apt then fetches
# neither them nor what only they need.
pretend_installed() {
    local name
    for name in $(names_in "$1"); do
        printf '%s\n' "Package: $name" 'Status: install ok installed' 'Priority: optional' 'Section: misc' \
            'Maintainer: none' "Architecture: $(dpkg --print-architecture)" 'Multi-Arch: allowed' \
            'Version: 999:9999' 'Description: left out' ''
    done
}

# fetch_packages LIST STORE [SUITE]: download LIST's packages of Debian 13 (trixie, or SUITE), and what they
# depend on, into STORE/ by a private apt (own lists, own cache, no root) from the mirror that this machine's
# apt already uses. apt resolves the dependencies for the machine's architecture; packages in LIST.left-out
# count as installed.
# STORE/complete is written last; a store that has it is used as it is, without a network.
fetch_packages() {
    local list=$1 store=$2 apt=$2/apt suite=${3:-trixie} mirror names
    local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    [ -e "$store/complete" ] && return 0
    need apt-get "without apt, build against your own MPI: see docs/guide/building.md"
    rm -rf "$store"
    mkdir -p "$apt"/etc/apt/{apt.conf.d,preferences.d} "$apt"/var/lib/apt/lists/partial \
        "$apt"/var/cache/apt/archives/partial "$apt"/var/lib/dpkg || die "cannot write to $store"
    pretend_installed "$list.left-out" >"$apt/var/lib/dpkg/status"
    mirror=${MEND_ENV_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null |
        grep -v security | sort -u | head -1)}
    [ -n "$mirror" ] || die "this machine's apt names no mirror (apt-get indextargets is empty)"
    [ -r "$keyring" ] || die "$keyring is missing: apt-get install debian-archive-keyring;" \
        "on a system that is not Debian, build against your own MPI: see docs/guide/building.md"
    echo "deb [signed-by=$keyring] $mirror $suite main" >"$apt/etc/apt/sources.list"
    # an option's value ends at a blank for apt, and the clone's path may have one: a file can quote it
    cat >"$apt/conf" <<CONF
Dir "$apt";
Dir::Etc "$apt/etc/apt";
Dir::State "$apt/var/lib/apt";
Dir::State::status "$apt/var/lib/dpkg/status";
Dir::Cache "$apt/var/cache/apt";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "3";
CONF
    say "1/3 reading Debian's package list ($suite)"
    APT_CONFIG=$apt/conf apt-get -qq update >"$store/log" 2>&1 && ! grep -q '^W: Failed to fetch' "$store/log" ||
        die "the package mirror does not answer: $(grep -m1 '^[EW]:' "$store/log" || tail -1 "$store/log")"
    names=$(names_in "$list")
    say "2/3 downloading $(wc -w <<<"$names") packages and what they need"
    # shellcheck disable=SC2086
    APT_CONFIG=$apt/conf apt-get -qq -y --no-install-recommends --download-only install $names >>"$store/log" 2>&1 ||
        die "a package could not be downloaded: $(grep -m1 '^[EW]:' "$store/log" || tail -1 "$store/log")"
    mv "$apt"/var/cache/apt/archives/*.deb "$store"
    rm -rf "$apt" "$store/log"
    : >"$store/complete"
}

# unpack STORE ROOT: with the same /lib and /lib64 that the system has since they moved into /usr
unpack() {
    local deb name
    mkdir -p "$2"
    for deb in "$1"/*.deb; do dpkg-deb -x "$deb" "$2" || die "cannot unpack ${deb##*/} (is the disk full?)"; done
    for name in lib lib64; do
        if [ -d "$2/usr/$name" ] && [ ! -e "$2/$name" ]; then ln -s "usr/$name" "$2/$name"; fi
    done
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
    # the packages believe to be in /usr; pkg-config wants a blank in a path behind a backslash
    local in_pc
    in_pc=$(for_sed "$(printf '%s' "$root" | sed 's/ /\\ /g')")
    while IFS= read -r f; do
        sed -E -i "s#(=|[[:space:]]|-I|-L)/usr#\\1$in_pc/usr#g" "$f"
    done < <(find "$root"/usr/lib "$root"/usr/share -path '*/pkgconfig/*.pc' -type f)
    # absolute links of -dev packages would lead out of the prefix
    while IFS= read -r f; do
        case $(readlink "$f") in /*) ln -sfn "$root$(readlink "$f")" "$f" ;; esac
    done < <(find "$root/usr/lib" "$root/etc/alternatives" -type l 2>/dev/null)
}

# missing_libraries ROOT RPATH: a line "OBJECT needs LIBRARY" for each library that an object of the prefix names
# and that no folder of RPATH (nor the object's own) holds.
missing_libraries() {
    local root=$1 folders f library d
    IFS=: read -ra folders <<<"$2"
    while IFS= read -r f; do
        [ "$(head -c4 "$f" | tail -c3)" = ELF ] || continue
        while read -r library; do
            for d in "${folders[@]}" "$(dirname "$f")" "$root/usr/lib64"; do [ -e "$d/$library" ] && continue 2; done
            echo "${f#"$root"} needs $library"
        done < <(readelf -d "$f" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p')
    done < <(find "$root/usr/lib" "$root/usr/bin" "$root/usr/sbin" -type f \( -name '*.so*' -o -perm -u+x \) -size +0)
}

# check_libraries ROOT RPATH: plugins for hardware whose libraries were left out on purpose are removed (their
# hosts look for them and do without); any other object with a missing library is an error that names both.
check_libraries() {
    local missing object needed bad=
    missing=$(missing_libraries "$1" "$2")
    while read -r object _ needed; do
        case $object in
            '') ;;
            */lib/*/ucx/* | */lib/*/hwloc/* | /usr/bin/eu-srcfiles) rm -f "$1$object" ;;
            *) bad+=" $object needs $needed;" ;;
        esac
    done <<<"$missing"
    [ -z "$bad" ] || die "the prefix is not complete:$bad add the package to env/packages"
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
