#!/usr/bin/env bash
# An installed copy is complete: programs are built against it by pkg-config (shared and static) and by
# find_package(mend), and run; each public header stands alone; the command finds its files; nothing of it names the
# folders it was built in.
set -uo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; exit 1; }
quiet() { "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "$*"; }; }
quiet cmake --install "$MEND_BUILD" --prefix "$scratch/first"
mv "$scratch/first" "$scratch/usr" # it may be moved
usr=$scratch/usr lib=$(dirname "$(find "$scratch/usr" -name libmend.so | head -1)")
export PKG_CONFIG_PATH=$lib/pkgconfig
pc=${PKG_CONFIG:-pkg-config}
for f in bin/mend share/man/man1/mend.1 share/man/man1/mend-doctor.1 share/man/man5/mend.conf.5 \
    share/mend/launch/openmpi share/bash-completion/completions/mend include/mend/error.h \
    share/mend/python/mend/__init__.py share/mend/python/mend/_store.py; do
    [ -s "$usr/$f" ] || fail "$f is not installed"
done
find "$usr" -name '*.h' -not -path "$usr/include/mend/*" | grep . && fail "headers outside include/mend"

# Not an RPATH (an empty element would be the current directory), not a text, not a string in a program or its debug
# information names the clone or the build folder. The private prefix is where the MPI is: that may be named.
named() { # paths into the clone or the build folder that stand in $1
    tr '\0' '\n' <"$1" | LC_ALL=C grep -aF -e "$MEND_SOURCE/" -e "$MEND_BUILD/" |
        LC_ALL=C awk -v mpi="${MEND_ENV_PREFIX:-/nowhere}/" -v clone="$MEND_SOURCE/" -v build="$MEND_BUILD/" '
            { while (at = index($0, mpi)) $0 = substr($0, 1, at - 1) "(prefix)" substr($0, at + length(mpi)) }
            index($0, clone) || index($0, build) { gsub(/[^[:print:]]/, "."); print substr($0, 1, 200) }' | head -3
}
rpath() { readelf -d "$1" 2>/dev/null | sed -nE 's/.*\((RPATH|RUNPATH)\).*\[(.*)\]/\2/p'; }
while IFS= read -r f; do
    found=$(named "$f")
    [ -z "$found" ] || fail "${f#"$usr/"} names the folder it was built in: $found"
    while IFS= read -r path; do
        case ":$path:" in *::*) fail "${f#"$usr/"} has an RPATH with an empty element: $path" ;; esac
        while IFS= read -r -d : element; do
            case $element in "\$ORIGIN"* | /*) ;; *) fail "${f#"$usr/"} has a relative RPATH: $path" ;; esac
        done <<<"$path:"
    done < <(rpath "$f")
done < <(find "$usr" -type f)
# and the test can see one
printf 'x\0y %s/src/base/x.c\0' "$MEND_SOURCE" >"$scratch/named"
[ -n "$(named "$scratch/named")" ] || fail "the test does not see a path"

cd "$scratch" || exit 1
cat >core.c <<'C'
#include <mend/error.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    puts(mend_version_text());
    return strcmp(mend_error_name(MEND_ERR_IO), "MEND_ERR_IO") != 0;
}
C
cat >all.c <<'C'
#include <mend/error.h>
#include <mend/process.h>
#include <mend/store.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    puts(mend_version_text());
    MPI_Finalize();
    return 0;
}
C
cc=${CC:-cc}
version=$("$usr/bin/mend" --version | cut -d' ' -f2)
# shellcheck disable=SC2046
quiet $cc core.c -o core-shared $($pc --cflags --libs mend-core)
# shellcheck disable=SC2046
quiet $cc core.c -o core-static $($pc --cflags mend-core) -Wl,-Bstatic -lmend-core -L"$lib" -Wl,-Bdynamic $($pc --static --libs mend-core | tr ' ' '\n' | grep -v -- -lmend-core)
# shellcheck disable=SC2046
quiet $cc all.c -o all-shared $($pc --cflags --libs mend)
for p in core-shared core-static all-shared; do [ "$(./$p)" = "$version" ] || fail "$p does not run: $(./$p 2>&1)"; done
grep -q "libmpi" < <(ldd core-shared) && fail "libmend-core needs MPI"
"$pc" --exists mend-fenix mend-veloc mend-fti mend-scr || fail "no pkg-config files for the faces"

# the same by the compiler that mend names, for one who has never heard of env/run
plain=(env -i PATH=/usr/bin:/bin HOME="$scratch" PKG_CONFIG_PATH="$PKG_CONFIG_PATH")
"${plain[@]}" "$(command -v "$pc")" --cflags --libs mend >flags 2>log || { cat log; fail "pkg-config knows mend only inside env/run"; }
# shellcheck disable=SC2046
quiet "${plain[@]}" "$usr/bin/mend" cc all.c -o all-plain $(cat flags)
[ "$("${plain[@]}" ./all-plain)" = "$version" ] || fail "what mend cc made does not run"

for header in $(cd "$usr/include" && find mend -name '*.h' ! -name scrf.h); do # (that one is for Fortran)
    printf '#include <%s>\n' "$header" >one.c
    # shellcheck disable=SC2046
    quiet $cc -std=c11 -Wall -Wextra -Werror -c one.c -o one.o $($pc --cflags mend-veloc)
done

mkdir app
cp core.c all.c app/
cat >app/CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.22)
project(app LANGUAGES C)
find_package(mend REQUIRED)
add_executable(core core.c)
target_link_libraries(core mend::core)
add_executable(whole all.c)
target_link_libraries(whole mend::mend)
C
quiet cmake -S app -B app/build -DCMAKE_PREFIX_PATH="$usr"
quiet cmake --build app/build
for p in core whole; do [ "$("app/build/$p")" = "$version" ] || fail "find_package: $p does not run"; done
echo PASS
