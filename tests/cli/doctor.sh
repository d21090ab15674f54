#!/usr/bin/env bash
# mend doctor: finds what is here, survives a real kill, is honest when there is no MPI.
set -uo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; exit 1; }
has() { grep -q "$1" "$scratch/out" || { cat "$scratch/out"; fail "no $1"; }; }

"$MEND" doctor --dir "$scratch" >"$scratch/out" 2>&1 || { cat "$scratch/out"; fail "exit code $?"; }
has '^ok  openmpi *Open MPI 5'
has '^ok  ulfm *one of 3 ranks was killed'
has '^ok  mpich'
has '^ok  launcher *Mend.s launcher starts processes'
has 'copied at [0-9.]* GB/s'
has "$scratch: [0-9.]* GB/s written"
has 'userfaultfd' && has 'seccomp' && has 'namespaces' && has 'slurm' && has "cores" && has "shm"
has '^ok  gpu'
[ "$(ls "$scratch")" = out ] || fail "files were left: $(ls "$scratch")"

"$MEND" doctor --json --dir "$scratch" >"$scratch/out" || fail "--json: exit code $?"
"$MEND_BUILD/tests/json_check" "$scratch/out" mend ok findings || fail "not JSON"

# a GPU, as the stand-in of the driver makes it believe; a driver that fails is told, and no reason to fail
MEND_DEVICE_DRIVER=$MEND_BUILD/tests/libfake_driver.so "$MEND" doctor --dir "$scratch" >"$scratch/out" 2>&1 || fail "with a GPU"
has '^ok  gpu *device 1, Stand-in 1: 1.0 of 1.0 GiB free, driver for CUDA 13.0; copied at [0-9.e+]* GB/s inside'
has '^ok  gpu *the driver has the functions that save an unmodified program on the GPU (mend exec); whether it saves yours, the first checkpoint shows'
has '^ok  gpu *what was saved can go on on other GPUs of the same kind (capsule.gpu_map)'
grep -q MPS "$scratch/out" && fail "MPS, out of nothing"
[ "$(uname -m)" != x86_64 ] || ! grep -q 'was never tried' "$scratch/out" || fail "it was tried on x86_64"
mkdir "$scratch/mps" && : >"$scratch/mps/control" # what it says of a less fortunate machine
machine=$(uname -m) as=env
[ "$machine" != x86_64 ] || machine=i686 as='setarch i686'
# shellcheck disable=SC2086
CUDA_MPS_PIPE_DIRECTORY=$scratch/mps MEND_FAKE_CUDA=12080 MEND_DEVICE_DRIVER=$MEND_BUILD/tests/libfake_driver.so $as "$MEND" doctor --dir "$scratch" >"$scratch/out" 2>&1 || fail "with MPS"
has 'free, driver for CUDA 12.8;'
has '^ok  gpu *the driver has the functions'
has '^--  gpu *what was saved goes on on the same GPUs only'
has "^--  gpu *MPS shares the GPUs here ($scratch/mps/control exists): unmodified programs on them get no checkpoints"
has "^--  gpu *saving an unmodified program on the GPU was never tried on $machine"
rm -r "$scratch/mps"
MEND_FAKE_CUDA=12040 MEND_DEVICE_DRIVER=$MEND_BUILD/tests/libfake_driver_old.so "$MEND" doctor --dir "$scratch" >"$scratch/out" 2>&1 || fail "with an old driver"
has 'free, driver for CUDA 12.4;'
has '^--  gpu *the driver is too old for checkpoints of unmodified programs on the GPU; regions and views on it are saved'
has '570 or newer is needed'
grep -q 'the driver has the functions' "$scratch/out" && fail "an old driver has them"
MEND_DEVICE_DRIVER=/nonexistent.so "$MEND" doctor --dir "$scratch" >"$scratch/out" 2>&1 || fail "with a driver that is missing"
has '^ok  gpu *no GPU: device.driver = /nonexistent.so'

# without any MPI: exit code 1, and it says how to get one
mkdir "$scratch/bin"
cp "$MEND" "$scratch/bin/mend-alone"
MEND_ENV_ENTERED=none PATH=/nonexistent "$scratch/bin/mend-alone" doctor --dir "$scratch" >"$scratch/out" 2>&1
[ $? = 1 ] || fail "no MPI is not noticed"
has '^NO  openmpi' && has 'Open MPI 5 or newer is needed'

# several machines: an agent that runs the command here plays machines that are like this one and such that are not
cat >"$scratch/agent" <<'AGENT'
#!/usr/bin/env bash
host=$1; shift
case $host in
    gone) echo "no route to gone" >&2; exit 255 ;;
    rude) printf 'mend-answer {"mend": 1' ; exit 0 ;;
    old) "$@" | sed 's/"mend":"[^"]*"/"mend":"0.0.1"/' ;;
    other) "$@" | sed 's/"machine":"[^"]*"/"machine":"pdp11"/; s/"folder":true/"folder":false/' ;;
    small) "$@" | sed 's/"features":"[^ "]* */"features":"/' ;;
    late) "$@" | sed 's/"clock":\([0-9]*\)/"clock":1\1/' ;;
    *) echo "Welcome to $host"; exec "$@" ;;
esac
AGENT
chmod +x "$scratch/agent"
hosts() { "$MEND" doctor --launcher "$scratch/agent" "$@" >"$scratch/out" 2>&1; }
hosts --host a:2,b --dir "$scratch" || { cat "$scratch/out"; fail "good machines: code $?"; }
[ "$(grep -c '^ok .*shares the folder' "$scratch/out")" = 2 ] || { cat "$scratch/out"; fail "not two good machines"; }
printf 'gone slots=2\nrude\nold\nother # comment\n\nsmall\nlate\n' >"$scratch/hosts"
hosts --hostfile "$scratch/hosts" --dir "$scratch"; [ $? = 1 ] || fail "bad machines pass"
has '^NO  gone *no answer: no route to gone'
has '^NO  rude *no answer'
has '^NO  old *Mend is 0.0.1 there'
has '^NO  other *architecture is pdp11 there'
has '^NO  other .*not the same folder'
has '^--  small *the processor lacks 1 features'
has '^--  late *the clock there differs by'
[ -z "$(find "$scratch" -name '.mend-doctor*')" ] || fail "a folder was left"
hosts --host a,gone --json; [ $? = 1 ] || fail "--json: a bad machine passes"
"$MEND_BUILD/tests/json_check" "$scratch/out" mend ok findings || fail "not JSON"
hosts --host 'a;b'; [ $? = 2 ] || fail "a name with a semicolon passes"
hosts --hostfile /nonexistent; [ $? = 2 ] || fail "a missing hostfile passes"

out=$("$MEND" doctor --dir /proc/no/such 2>&1); [ $? = 2 ] || fail "an unwritable folder: $out"
[ "$(grep -c . <<<"$out")" = 2 ] || fail "not one sentence: $out"
"$MEND" doctor --nonsense >/dev/null 2>&1; [ $? = 2 ] || fail "a wrong flag passes"
echo PASS
