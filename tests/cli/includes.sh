#!/usr/bin/env bash
# The arrows of docs/guide/layers.md point down only: which headers a layer may include.
set -uo pipefail
cd "$MEND_SOURCE" || exit 1
bad=0
complain() { echo "FAIL: $*"; bad=1; }
declare -A below=(
    [base]="" [device]="base" [code]="base" [image]="base code" [plan]="base"
    [ulfm]="base" [process]="base ulfm" [store]="base device code image ulfm" [flow]="base device code image plan ulfm process store"
    [compat]="base device code image process store flow" [capsule]="base device code image plan ulfm process store"
    [tools]="base device code image plan" [launcher]="base"
)
without_mpi=" base device code image plan tools launcher "
# the layer that a public header belongs to
owner() { case $1 in error | types) echo base ;; mend) echo any ;; *) echo "$1" ;; esac; }

check_file() { # LAYER FILE
    local layer=$1 file=$2 header other
    while read -r header; do
        case $header in
            mpi-ext.h) [ "$layer" = ulfm ] || complain "$file includes $header: only src/ulfm may" ; continue ;;
            mpi.h) [[ $without_mpi != *" $layer "* ]] || complain "$file includes $header: $layer does without MPI" ; continue ;;
            mend/*) other=$(owner "$(basename "$header" .h)") ;;
            base/* | device/* | code/* | image/* | plan/* | ulfm/* | process/* | store/* | flow/* | compat/* | capsule/* | launcher/*) other=${header%%/*} ;;
            fenix.h | veloc.h | fti.h | scr.h) other=compat ;;
            ../*)
                case $(readlink -m "$(dirname "$file")/$header") in
                    "$PWD/src/$layer"/* | "$PWD/tools/mend"/*) ;;
                    *) complain "$file includes $header: a path out of the folder" ;;
                esac
                continue ;;
            *) continue ;;
        esac
        [ "$other" = any ] && { complain "$file includes $header, which is for users"; continue; }
        [ -n "${below[$other]+x}" ] || continue
        [ "$other" = "$layer" ] || [[ " ${below[$layer]} " == *" $other "* ]] ||
            complain "$file includes <$header>: $layer may only know: ${below[$layer]:-nothing}"
    done < <(sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]([^>"]+)[>"].*/\1/p' "$file")
}
files=0
for layer in base device code image plan ulfm process store flow compat capsule launcher; do
    [ -d "src/$layer" ] || continue
    while read -r file; do check_file "$layer" "$file"; files=$((files + 1)); done < <(find "src/$layer" -name '*.[ch]')
done
while read -r file; do check_file tools "$file"; files=$((files + 1)); done < <(find tools/mend -name '*.[ch]')
[ $files -gt 20 ] || complain "only $files files looked at"

# The rooms of the capsule, from the ground up: a room may include its own headers and those of rooms named before it.
# No list can have a circle. Between the halves there is only border/; no room has more than 30 files or 5000 lines.
shared="arch table border"
lower="$shared ground gpu output undo start images versions round online mpi"
upper="$shared core os messages comm types windows io generated life faces"
for row in "both halves   ${shared/ / }" "lower half $lower" "upper half $upper"; do
    for room in $row; do
        case $room in both | halves | lower | upper | half) continue ;; esac
        sed -n '/^ both halves/,/^```/p' docs/guide/layers.md | grep -qw -- "$room" || complain "docs/guide/layers.md does not name the room $room"
    done
done
room_of() { case $1 in */lower/*/* | */upper/*/*) basename "$(dirname "$1")" ;; */lower/*) echo lower ;; */upper/*) echo upper ;; *) basename "$(dirname "$1")" ;; esac; }
check_room() { # FILE ROOM ROOMS
    local file=$1 room=$2 rooms=" $3 " header other before
    before=${rooms%% "$room" *}
    while read -r header; do
        case $header in */*) other=${header%/*} ;; *) continue ;; esac
        case $file:$header in src/capsule/arch/*) continue ;; esac
        case $rooms in *" $other "*) ;; *) complain "$file includes $header, which is in no room of this half"; continue ;; esac
        [ "$other" = "$room" ] || [[ "$before " == *" $other "* ]] ||
            complain "$file includes $header: $room may only know:$before"
    done < <(sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]+)".*/\1/p' "$file")
}
while read -r file; do
    case $file in
        src/capsule/lower/main.c) check_room "$file" main "$lower main" ;;
        src/capsule/lower/*) check_room "$file" "$(room_of "$file")" "$lower" ;;
        src/capsule/upper/*) check_room "$file" "$(room_of "$file")" "$upper" ;;
        *) check_room "$file" "$(room_of "$file")" "$shared" ;;
    esac
    case $file in *_more.*) complain "$file: a name that says nothing" ;; esac
done < <(find src/capsule -name '*.[ch]' -o -name '*.def')
while read -r room; do
    count=$(find "$room" -maxdepth 1 -type f | wc -l)
    lines=$(find "$room" -maxdepth 1 -type f -exec cat {} + | wc -l)
    [ "$count" -le 30 ] && [ "$lines" -le 5000 ] || complain "$room has $count files and $lines lines: too much for one room"
done < <(find src/capsule -type d)

# The rooms of flow, too: each may know the layer's flow.h and its own headers; flow itself knows neither room's.
while read -r file; do
    room=$(basename "$(dirname "$file")")
    while read -r header; do
        case $header in
            flow.h | "$room"/*) ;;
            *) complain "$file includes $header: $room may only know flow.h and its own headers" ;;
        esac
    done < <(sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]+)".*/\1/p' "$file")
done < <(find src/flow -name '*.[ch]')

# The rooms of mend run: check, start, follow. Each may know those before it; all know run.h.
while read -r file; do
    room=$(basename "$(dirname "$file")")
    while read -r header; do
        case $room:$header in
            check:run/start/* | check:run/follow/* | start:run/follow/*) complain "$file includes $header: $room may not know it" ;;
        esac
    done < <(sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]+)".*/\1/p' "$file")
done < <(find tools/mend/run -name '*.[ch]')
while read -r room; do
    count=$(find "$room" -maxdepth 1 -type f | wc -l)
    [ "$count" -le 25 ] || complain "$room has $count files: too many for one room"
done < <(find src tools -type d)

# The four paths through the capsule that the guide describes: the files that it names are there, and each function
# that it names with a file is in that file (by name, or made there by a macro: lower_##Name).
check_path() { # NAME FILE
    local name=$1 file
    file=$(find src/capsule -path "*/$2")
    [ -n "$file" ] || { complain "docs/guide/layers.md names $2, which is not there"; return; }
    [ -z "$name" ] || grep -qE "\b($name\(|${name%%_*}_##)" "$file" || complain "docs/guide/layers.md: $2 has no $name"
}
paths=$(sed -n '/these four paths:/,$p' docs/guide/layers.md | tr -s '\n ' ' ')
named=0
while read -r file; do check_path "" "$file"; named=$((named + 1)); done < <(grep -oE '`[a-z_/]+\.(c|h|def)`' <<<"$paths" | tr -d '`')
while read -r name file; do check_path "$name" "$file"; named=$((named + 1)); done < <(grep -oE '`[a-zA-Z_]+` \(`[a-z_/]+\.[ch]`' <<<"$paths" | tr -d '`(')
# elsewhere in the guide they are named with their whole path: `src/…`, or `function`, `src/…`
while read -r file; do [ -e "$file" ] || complain "the guide names $file, which is not there"; done < <(grep -ohE '`src/[a-zA-Z0-9_/.-]+`' docs/guide/*.md | tr -d '`' | sort -u)
while read -r name file; do
    grep -qsE "\b$name\(" "$file" || complain "the guide: $file has no $name"
    named=$((named + 1))
done < <(grep -ohE '`[a-z_]+`, `src/[a-z_/]+\.[ch]`' docs/guide/*.md | tr -d '`,')
[ $named -gt 50 ] || complain "only $named names of files and functions in the four paths"

# and the check itself can fail
mkdir -p "${TMPDIR:-/tmp}/includes.$$"
trap 'rm -rf "${TMPDIR:-/tmp}/includes.$$"' EXIT
printf '#include <store/engine.h>\n#include <mpi.h>\n' >"${TMPDIR:-/tmp}/includes.$$/x.c"
[ "$(check_file base "${TMPDIR:-/tmp}/includes.$$/x.c" | grep -c FAIL)" = 2 ] || complain "the check sees nothing"
printf '#include "online/online.h"\n' >"${TMPDIR:-/tmp}/includes.$$/y.c"
[ "$(check_room "${TMPDIR:-/tmp}/includes.$$/y.c" undo "$lower" | grep -c FAIL)" = 1 ] || complain "the check of rooms sees nothing"
[ "$(check_path no_such_function online/recover.c | grep -c FAIL)" = 1 ] || complain "the check of paths sees nothing"
[ $bad = 0 ] && echo "PASS: $files files"
exit $bad
