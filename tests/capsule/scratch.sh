# scratch.sh - sourced by the scripts beside it: a folder $work that is gone with the script, and within(), a time
# limit. What a command that was not done in time was doing is printed when the script ends.
work=$(mktemp -d) || exit 1
export MEND_TEST_STACKS=$work.stacks
trap 'cat "$MEND_TEST_STACKS" 2>/dev/null; rm -rf "$work" "$MEND_TEST_STACKS"' EXIT
MEND_TEST_HARNESS=$(cd "$(dirname "${BASH_SOURCE[0]}")/../harness" && pwd); export MEND_TEST_HARNESS
within() { "$MEND_TEST_HARNESS/within" "$@"; }
