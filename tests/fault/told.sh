# told.sh - sourced by scripts: jobs that go on until they are told, so that no script depends on how fast a machine is.
# The program's number of steps is ./enough (apps/until.h). After the job a native run of as many steps as the job
# did makes what its output, and its files, have to equal.
#   untold OPTIONS… -- PROGRAM…   before the start: note the program
#   tell                          it is enough; but not less than what `got` shows already: a job that had to begin anew
#                                 after that must come so far again
#   reference [OUTPUT]            the native run; its output is in `want`, and its files, of folder b, in folder a
# The script has native() and fail().
untold() {
    while [ $# -gt 0 ] && [ "$1" != -- ]; do shift; done
    program=("${@:2}")
    rm -f enough
}
tell() {
    local shown
    shown=$(grep -oE '^([a-z]+: step )?[0-9]+ ' got | tail -n 1 | grep -oE '[0-9]+')
    echo "${shown:-0}" >enough.new && mv enough.new enough
}
reference() {
    local steps word words=()
    steps=$(sed -n 's/^[a-z]*: \([0-9]*\) \(steps\|rounds\), .*/\1/p' "${1:-got}")
    [ -n "$steps" ] || fail "the output does not say how many steps were done: $(tail -n 2 "${1:-got}")"
    for word in "${program[@]}"; do
        case $word in ./enough) word=$steps ;; b) word=a ;; esac
        words+=("$word")
    done
    case ${words[0]} in ./steady | ./pages) words[3]=0 ;; esac # (their pauses do not show)
    rm -rf a; mkdir a
    native "${words[@]}" >want || fail "the native run of $steps steps"
}
