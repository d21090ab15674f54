# A VeloC program is killed as a whole and launched anew: it finds its checkpoints. With its node-local
# files gone, the persistent ones serve; with another number of ranks the restart is refused.
set -u
program=$VELOC_PROGRAM
run() { $MEND_MPIRUN -n "$1" "$program" async "${@:2}"; }
run 4 first "$MEND_TEST_DIR" 2>/dev/null
run 4 second "$MEND_TEST_DIR"
grep -q PASS "$MEND_TEST_MARKER" || exit 1
rm -f "$MEND_TEST_MARKER"
rm -rf "$MEND_TEST_DIR/scratch"
run 4 second "$MEND_TEST_DIR"
grep -q PASS "$MEND_TEST_MARKER" || exit 1
rm -f "$MEND_TEST_MARKER"
run 3 second "$MEND_TEST_DIR"
