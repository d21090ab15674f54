# The rod, undisturbed and with a rank that dies (a middle one, the first, before any version).
set -u
run() { $MEND_MPIRUN -n 6 "$ROD" 200 2 "$@" 2>/dev/null | tail -1; }
expected=$(run)
[[ $expected == "sum "*" repairs 0" ]] || { echo "undisturbed run printed: $expected"; exit 1; }
for fault in "2 130" "0 77" "3 1" "1 199"; do
    # shellcheck disable=SC2086
    found=$(run $fault)
    [ "$found" = "${expected% *} 1" ] || { echo "rank/step $fault: $found, expected ${expected% *} 1"; exit 1; }
done
echo PASS >"$MEND_TEST_MARKER"
