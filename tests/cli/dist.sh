#!/usr/bin/env bash
# make dist: the archive has what is committed, no more and no less, and can be configured where it is unpacked.
set -uo pipefail
scratch=$(mktemp -d) || exit 1
cd "$scratch" || exit 1
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; exit 1; }
git -C "$MEND_SOURCE" rev-parse -q --verify HEAD >/dev/null 2>&1 || { echo "SKIP: the source is no git repository"; exit 77; }
git clone -q --shared "$MEND_SOURCE" clone || fail "git clone" # make dist writes into its clone
archive=clone/$(make -s -C clone dist) || fail "make dist"
[ -s "$archive" ] || fail "there is no $archive"
name=$(basename "$archive" .tar.gz)
[ "$name" = "$("$MEND" --version | head -1 | sed 's/^mend[^0-9]*\([0-9.]*\).*/mend-\1/')" ] || fail "$name is not the version of $("$MEND" --version)"
tar -xzf "$archive" || fail "tar"
[ "$(ls -A)" = "clone
$name" ] || fail "the archive is not one folder: $(ls -A)"
diff <(git -C clone ls-files | LC_ALL=C sort) <(cd "$name" && find . ! -type d -printf '%P\n' | LC_ALL=C sort) || fail "git's files (<) are not those of the archive (>)"
while read -r mode _ _ file; do # and they are the same
    case $mode in 100755) [ -x "$name/$file" ] || fail "$file cannot be executed" ;; esac
    cmp -s "clone/$file" "$name/$file" || fail "$file differs"
done < <(git -C clone ls-files -s | tr '\t' ' ')
"$name/env/run" cmake -S "$name" -B build -DBUILD_TESTING=OFF >said 2>&1 || fail "cmake: $(tail -20 said)"
[ -s build/Makefile ] || [ -s build/build.ninja ] || fail "nothing was configured"
echo "PASS: $(git -C clone ls-files | wc -l) files"
