#!/usr/bin/env bash
# The recipes for Debian, Spack, EasyBuild, modules and containers agree with the source (recipes.py); and the check can fail.
set -uo pipefail
scratch=$(mktemp -d) || exit 1
cd "$scratch" || exit 1
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; exit 1; }
python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null || { echo "SKIP: no python3 from 3.8 on"; exit 77; }
check() { python3 -B "$MEND_SOURCE/tests/cli/recipes.py" "$1"; }
check "$MEND_SOURCE" || fail "see above"
damaged() { # WHAT FILE SED: with that change the check fails
    rm -rf copy && mkdir copy && (cd "$MEND_SOURCE" && cp -r --parents CMakeLists.txt cmake contrib debian include/mend/version.h src/*/CMakeLists.txt "$scratch/copy")
    sed -i "$3" "copy/$2"
    cmp -s "copy/$2" "$MEND_SOURCE/$2" && fail "$1: nothing was changed"
    check copy >complaints 2>&1 && fail "$1 is not seen"
    grep -q '^FAIL: ' complaints || fail "$1: no complaint: $(cat complaints)"
}
damaged "another version" debian/changelog '1s/(0/(9/'
damaged "a package that a container lacks" contrib/container/mend.def 's/libpmix-dev//'
damaged "a library of a name that Spack does not have" contrib/spack/package.py 's/"libinih"/"inih"/'
damaged "a library that EasyBuild is not told of" "$(cd "$MEND_SOURCE" && echo contrib/easybuild/*.eb)" "/'zstd'/d"
echo PASS
