#!/usr/bin/env bash
# The command's frame: --help and --version, wrong use in one sentence with exit code 2, every subcommand
# with --help, completion that knows them all.
set -uo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
fail() { echo "FAIL: $*"; exit 1; }
code() { "$@" >out 2>err; echo $?; }

[ "$(code "$MEND" --help)" = 0 ] && grep -q '^Usage: mend' out || fail "--help"
[ "$(code "$MEND" --version)" = 0 ] && grep -qE '^mend [0-9]+\.[0-9]+' out || fail "--version"
[ "$(code "$MEND" version --json)" = 0 ] && "$MEND_BUILD/tests/json_check" out mend version || fail "version --json"
[ "$(code "$MEND")" = 2 ] || fail "no command is not wrong use"
for wrong in "nosuch" "--nosuch" "version nosuch" "version --json more" "doctor --dir"; do
    # shellcheck disable=SC2086
    [ "$(code "$MEND" $wrong)" = 2 ] || fail "mend $wrong: exit code"
    [ ! -s out ] && [ "$(grep -c '^mend' err)" = 1 ] || fail "mend $wrong: not one sentence: $(cat err)"
done
# a wrong configuration: which file, which line; whatever the command
printf '[log]\nlevel = info\nlevle = info\n' >bad.ini
[ "$(code "$MEND" --config bad.ini version)" = 2 ] && grep -q '^mend: bad.ini:3: ' err || fail "unknown key: $(cat err)"
[ "$(MEND_CONFIG=none.ini code "$MEND" version)" = 2 ] && grep -q 'none.ini' err || fail "no such file: $(cat err)"
[ "$(MEND_PROCESS_WATCHDOG=often code "$MEND" version)" = 2 ] && grep -q MEND_PROCESS_WATCHDOG err || fail "wrong variable: $(cat err)"
printf '[log]\nlevel = info\n' >bad.ini
[ "$(code "$MEND" --config bad.ini version)" = 0 ] || fail "a good file is refused: $(cat err)"
rm bad.ini

commands=$("$MEND" --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p')
[ -n "$commands" ] || fail "no commands"
for c in $commands; do
    [ "$(code "$MEND" "$c" --help)" = 0 ] && grep -q "^Usage: mend $c" out || fail "mend $c --help"
    [ "$(code "$MEND" "$c" --no-such-flag)" = 2 ] || fail "mend $c takes --no-such-flag: exit code $(code "$MEND" "$c" --no-such-flag)"
done
[ "$(ls)" = "$(printf 'err\nout')" ] || fail "something was created: $(ls)"

# mend(1) names every command and its page
manual=$MEND_SOURCE/docs/man
for c in $commands; do
    grep -q "^\*.*\*\?$c\*" <(sed -n '/^# COMMANDS/,/^# EXIT/p' "$manual/mend.1.scd") || fail "mend(1) does not name $c"
    [ "$c" = version ] || { [ -s "$manual/mend-$c.1.scd" ] && grep -q "\*mend-$c\*(1)" <(sed -n '/^# SEE ALSO/,$p' "$manual/mend.1.scd"); } ||
        fail "mend(1) does not name the page of $c, or there is none"
done

# completion: all commands, then their options, then files
. "$MEND_SOURCE/contrib/completion/mend.bash"
PATH=$(dirname "$MEND"):$PATH
complete_words() { COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=(); _mend; printf '%s\n' "${COMPREPLY[@]}"; }
for c in $commands; do grep -qx "$c" < <(complete_words mend "${c:0:3}") || fail "completion does not know $c"; done
grep -qx -- --json < <(complete_words mend doctor --j) || fail "completion does not know doctor --json"
echo PASS
