#!/usr/bin/env bash
# local_folder.sh: the default folder for versions of a node, /tmp/mend-UID. Everybody can make it before us: what is not
# ours alone is refused by a sentence, and nothing is put there. In a mount namespace with a /tmp of its own.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
if [ "${1:-}" != inside ]; then
    scratch=$(mktemp -d "$MEND_BUILD/local_folder-XXXXXX") || exit 1
    trap 'rm -rf "$scratch"' EXIT
    map=$([ "$(id -u)" = 0 ] || echo --user --map-root-user)
    # shellcheck disable=SC2086
    unshare $map --mount true 2>/dev/null || { echo "SKIP: no mount namespaces here"; exit 77; }
    # shellcheck disable=SC2086
    unshare $map --mount bash "$0" inside "$scratch" "$(id -u)"
    exit
fi
cd "$2" || exit 1
# (what is needed and lies in /tmp is put into the new one)
mkdir new && mount -t tmpfs -o mode=1777 none new || { echo "SKIP: no /tmp of our own"; exit 77; }
for kept in "$MEND_SOURCE" "$MEND_BUILD" "${MEND_ENV_PREFIX:-}" "$(dirname "$MEND")"; do
    case $kept in /tmp/*) mkdir -p "new/${kept#/tmp/}" && mount --rbind "$kept" "new/${kept#/tmp/}" || exit 1 ;; esac
done
mount --rbind new /tmp || exit 1
cd "$2" || exit 1
unset TMPDIR
fail() { echo "FAIL: $*"; tail -5 err; exit 1; }
mpicc.openmpi -O2 -o steady "$here/apps/steady.c" -pthread || exit 1
folder=/tmp/mend-$(id -u)
. "$here/told.sh"
launch() { rm -rf job enough; "$MEND" run -n 2 --spares 0 --dir job --every 50ms --levels memory,local "$@" -- ./steady ./enough 64 >got 2>err; }
refused() { # WHAT SENTENCE: by mend run, and on a node that mend run does not look at by the ranks themselves
    launch; [ $? = 1 ] || fail "$1: not refused"
    grep -q "the node's folder for versions is refused: $2" err || fail "$1: not said"
    [ ! -s got ] || fail "$1: the program ran"
    launch --host localhost:2; [ $? = 1 ] || fail "$1: not refused by the ranks"
    grep -q "the node's folder for versions is refused: $2" err || fail "$1: not said by the ranks"
    [ "$(grep -c run.launch job/events.jsonl)" = 1 ] || fail "$1: launched again"
    [ -z "$(find "$folder/" -mindepth 1 2>/dev/null)" ] || fail "$1: something was put there"
    rm -rf "$folder"; echo "ok: $1"
}
if [ "$3" = 0 ]; then
    mkdir "$folder"; chmod 777 "$folder"; chown 65534 "$folder"; refused "another user's, open to all" ".*belongs to user 65534"
    mkdir "$folder"; chmod 700 "$folder"; chown 65534 "$folder"; refused "another user's" ".*belongs to user 65534"
else
    echo "not root: no other user is tried"
fi
mkdir "$folder"; chmod 777 "$folder"; refused "ours, open to all" ".*mode 0777"
mkdir "$folder"; chmod 770 "$folder"; refused "ours, open to a group" ".*mode 0770"
mkdir /tmp/elsewhere; ln -s /tmp/elsewhere "$folder"; refused "a link" ".*is a link"
launch & runner=$!
until grep -qs '"level":"local"' job/events.jsonl; do kill -0 $runner 2>/dev/null || fail "no version in the node's folder"; sleep 0.02; done
[ "$(stat -c %a "$folder")" = 700 ] || fail "mode $(stat -c %a "$folder")"
tell; wait $runner || fail "refused though nobody was there before"
echo "ok: ours"
