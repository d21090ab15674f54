# programs.sh - sourced by scripts: `programs NAME…` puts the test programs of these names (apps/NAME.c) into this folder, as
# the build has compiled them.
programs() {
    local name
    for name; do cp "$MEND_BUILD/tests/fault/apps/$name" . || exit 1; done
}
