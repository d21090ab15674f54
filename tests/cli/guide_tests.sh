#!/usr/bin/env bash
# Every test that a page of the guide names exists: as `ctest -R` finds it, with * for any characters. Each row of the table in
# promises.md names at least one, and those that follow in short (`.pair` after `online.rank`) exist, too.
set -uo pipefail
cd "$MEND_SOURCE" || exit 1
bad=0
complain() { echo "FAIL: $*"; bad=1; }
tests=$(ctest --test-dir "$MEND_BUILD" -N | sed -n 's/^ *Test *#[0-9]*: //p')
[ "$(wc -l <<<"$tests")" -gt 100 ] || { echo "FAIL: ctest lists $(wc -l <<<"$tests") tests"; exit 1; }
# not tests: keys of the configuration, fault points
others=$( (sed -n 's/^CONFIG_KEY([A-Z0-9_]*, "\([a-z]*\)", "\([a-z0-9_]*\)".*/\1.\2/p' src/base/include/base/config_keys.def
    sed -n 's/^FAULT_POINT([a-z_0-9]*, "\(.*\)").*/\1/p' src/base/include/base/fault_points.def) | sort -u)
exists() { local pattern=${1//./\\.}; grep -q "^${pattern//\*/.*}" <<<"$tests"; }
named() { grep -oE '`\.?[a-z_]*\.?[A-Za-z0-9_.*]+`' | tr -d '`'; } # words in the order in which they come
count=0
for page in docs/guide/*.md README.md CONTRIBUTING.md; do
    last=
    for word in $(named <"$page"); do
        case $word in
        *.h | *.c | *.md | *.conf | *.def | *.so | *.so.* | *.ini | *.in | capsule.openmpi | capsule.mpich) continue ;; # files
        .[a-z]*) word=$last$word ;;
        unit.* | mpi.* | cli.* | fuzz.* | fault.* | chapter.* | capsule.* | online.* | mpirun.* | launcher.* | build.* | lint.* | bench.* | emulated.*) last=${word%%.*} ;;
        *) continue ;;
        esac
        grep -qx -- "$word" <<<"$others" && continue
        exists "$word" && count=$((count + 1)) || complain "$page: no test $word"
    done
done
[ $count -gt 60 ] || complain "only $count names of tests"
while IFS='|' read -r _ number _ names _; do
    [[ $number =~ ^\ *[0-9]+\ *$ ]] || continue
    [ -n "$(named <<<"$names")" ] || complain "promise $number names no test"
done <docs/guide/promises.md
[ $bad = 0 ] && echo PASS
exit $bad
