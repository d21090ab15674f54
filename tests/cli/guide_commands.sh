#!/usr/bin/env bash
# guide_commands.sh [run]: the commands in README.md, CONTRIBUTING.md and docs/guide. Each is in guide_commands.txt, and its
# options, targets, paths and names exist (guide_commands.py); the check can fail. With `run`, those that the table says are
# run: in a scratch folder with what the page speaks of, page by page.
set -uo pipefail
[ "${1:-}" != run ] || [ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" run
scratch=$(mktemp -d) || exit 1
cd "$scratch" || exit 1
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; exit 1; }
python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || { echo "SKIP: no python3 from 3.9 on"; exit 77; }
pages() { python3 -B "${2:-$MEND_SOURCE/tests/cli}/guide_commands.py" "${1:-$MEND_SOURCE}" "$MEND_BUILD" "${@:3}"; }

check() {
    pages || fail "see above"
    # what is wrong is seen: one page with one more command, or one change
    mkdir copy && cp -r "$MEND_SOURCE"/{README.md,CONTRIBUTING.md,Makefile,CMakeLists.txt,apps,bench,bindings,cmake,contrib,debian,docs,env,examples,include,share,src,tests,tools} copy
    local page=copy/docs/guide/nodes.md
    damaged() { # WHAT COMPLAINT TEXT: appended to the page
        cp "$MEND_SOURCE/docs/guide/nodes.md" "$page"
        printf '%b\n' "$3" >>"$page"
        pages copy copy/tests/cli >complaints && fail "$1 is not seen"
        grep -qF "$2" complaints || fail "$1: another complaint: $(cat complaints)"
    }
    damaged "a new command" "not in guide_commands.txt" '```\nmend ls elsewhere\n```'
    damaged "a wrong option" "mend run has no option --spare-ranks" 'Try `mend run -n 4 --spare-ranks 1 -- ./a`.'
    damaged "a wrong subcommand" "there is no mend remove" 'Try `mend remove DIR`.'
    damaged "a wrong target" "there is no make tests" 'Try `make tests`.'
    [ ! -d "$MEND_BUILD/examples" ] || damaged "a wrong program" "the build makes no build/examples/nothing" 'Run `build/examples/nothing`.'
    damaged "a wrong path" "there is no tests/cli/nothing.sh" 'See `tests/cli/nothing.sh`.'
    damaged "a wrong variable" "MEND_RUN_LUNCHER is known nowhere" 'Set `MEND_RUN_LUNCHER`.'
    damaged "a wrong setting" "store.memry_keep is no setting" 'Set `store.memry_keep`.'
    damaged "a block of nobody knows what" "what is that" '```what\nx\n```'
    cp "$MEND_SOURCE/docs/guide/nodes.md" "$page"
    echo 'README.md | make coffee | run' >>copy/tests/cli/guide_commands.txt
    pages copy copy/tests/cli >complaints && fail "a row for no command is not seen"
    grep -qF "has no such command" complaints || fail "a row for no command: $(cat complaints)"
}

# What each page takes for granted.
prepare() { # PAGE
    rm -rf room && mkdir room && cd room || exit 1
    ln -s "$MEND_BUILD" build && ln -s "$MEND_SOURCE/apps" apps && ln -s "$MEND_SOURCE/include" include
    case $1 in
    */compat.md) cp "$MEND_SOURCE/tests/mpi/compat_veloc.c" heat.c ;;
    */flow.md) cp "$MEND_BUILD/apps/heat_flow" . ;;
    */online.md | */events.md)
        touch args # app goes on until that is there
        "$MEND" cc -O2 -o app "$MEND_SOURCE/tests/fault/apps/steady.c" -pthread || fail "$1: no program"
        "$MEND" run -n 2 --every 100ms --dir DIR -q -- ./app 300 512 >/dev/null || fail "$1: no job to look at" ;;
    */scale.md) cp "$MEND_SOURCE/docs/guide/scale.ini" . ;;
    */how-often-*)
        cp "$MEND_SOURCE/docs/guide/four-levels.ini" .
        printf '0 2\n86400 1\n172800 2\n400000 4\n' >record
        mkdir bin && printf '#!/bin/sh\nprintf "2026-01-03T10:00:00\\n2026-01-01T10:00:00\\n"\n' >bin/sacctmgr && chmod +x bin/sacctmgr ;;
    esac
}
run_page() { # PAGE
    prepare "$1"
    pages "$MEND_SOURCE" "$MEND_SOURCE/tests/cli" "$1" >commands
    [ -s commands ] || fail "$1: no commands"
    PATH=$PWD/bin:$MEND_BUILD/bin:$PATH bash -ex commands >said 2>&1 </dev/null || { tail -30 said; fail "$1 ends with $?"; }
    echo "$1: $(wc -l <commands) lines"
}
look() { # PAGE: what its commands should have left
    case $1 in
    */how-often-*)
        grep -q '^expected   13.58 d' said || fail "the plan is not that of the page: $(cat said)"
        [ "$(cat record)" = $'0 2\n172800 2' ] || fail "the record made of Slurm's accounting: $(cat record)" ;;
    */online.md) [ -s DIR/report.html ] || fail "no report" ;;
    */events.md) grep -q '^mend_up' said || fail "no metrics: $(cat said)" ;;
    */compat.md) [ -x heat ] || fail "no program" ;;
    esac
}
run_all() {
    local page
    for page in $(sed -n 's/ | .* | run$//p' "$MEND_SOURCE/tests/cli/guide_commands.txt" | sort -u); do
        run_page "$page"
        look "$page"
        cd "$scratch" || exit 1
    done
    "$MEND_SOURCE/tools/demo" >said 2>&1 || { tail -20 said; fail "make demo ends with $?"; }
    grep -q 'byte for byte' said || fail "make demo: $(cat said)"
}

if [ "${1:-}" = run ]; then run_all; else check; fi
echo PASS
