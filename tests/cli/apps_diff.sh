#!/usr/bin/env bash
# The resilient version of each program differs from the plain one by at most so many lines, and the README shows the very
# lines of heat.
set -uo pipefail
cd "$MEND_SOURCE" || exit 1
bad=0
count() { # app most
    local n
    n=$(diff "apps/$1/$1.c" "apps/$1/$1_flow.c" | grep -c '^>')
    echo "$1: $n lines of at most $2"
    [ "$n" -gt 0 ] && [ "$n" -le "$2" ] || bad=1
}
count heat 5
count md 20
while read -r line; do
    grep -qxF "$line" < <(sed -n 's/^+ *//p' README.md) || { echo "not in the README: $line"; bad=1; }
done < <(diff apps/heat/heat.c apps/heat/heat_flow.c | sed -n 's/^> *//p')
exit $bad
