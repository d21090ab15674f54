# find_driver CAPSULE: the GPU driver's library that belongs to the kernel's driver, as a path. A system may have several, and
# all others end with CUDA's error 803, so each is asked to begin. CAPSULE is the program that does so (`--gpu`). What was found
# is told on stderr.
# shellcheck shell=bash
driver_candidates() {
    local version folder
    version=$(grep -oE -m 1 '[0-9]{3}\.[0-9]+(\.[0-9]+)?' /proc/driver/nvidia/version 2>/dev/null | head -n 1)
    [ -n "$version" ] || version=$(timeout 20 nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
    echo "the kernel's driver: ${version:-unknown}" >&2
    local -a folders=(/usr/local/nvidia/lib64)
    mapfile -t -O 1 folders < <(/sbin/ldconfig -p 2>/dev/null | sed -n 's|.*libcuda\.so\.1 .*=> \(/.*\)/libcuda\.so\.1$|\1|p')
    folders+=(${LD_LIBRARY_PATH//:/ } /usr/lib/*-linux-gnu /usr/lib64 /usr/local/cuda/compat)
    for folder in "${folders[@]}"; do # first those of the same version
        [ -n "$version" ] && [ -e "$folder/libcuda.so.1" ] && [ -e "$folder/libcuda.so.$version" ] && echo "$folder/libcuda.so.1"
    done
    for folder in "${folders[@]}"; do [ -e "$folder/libcuda.so.1" ] && echo "$folder/libcuda.so.1"; done
}
find_driver() {
    local library said first=
    while read -r library; do
        # It names the state of this shell, of which no driver knows: what it says of cuInit counts.
        said=$(timeout 30 "$1" --gpu $$ "$library" getState 2>&1)
        echo "$library: ${said:-it begins}" | cut -c1-200 >&2
        case $said in *cuInit* | *'cannot be loaded'* | *'rror while loading'*) first=${first:-$library} ;; *) echo "$library"; return ;; esac
    done < <(driver_candidates | awk '!seen[$0]++')
    echo "$first"
}
# use_driver FOLDER CAPSULE: a private prefix has a loader of its own, which does not look where the system has the driver.
# Links in FOLDER, and LD_LIBRARY_PATH names it first. `driver` is the path of the library, "" if there is none.
use_driver() {
    driver=$(find_driver "$2")
    mkdir -p "$1"
    [ -z "$driver" ] || ln -s "${driver%/*}"/libcuda.so* "${driver%/*}"/libnvidia-* "$1" 2>/dev/null
    export LD_LIBRARY_PATH=$1${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}
# Memory of the devices that is in use, in MiB.
device_memory() { timeout 20 nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits 2>/dev/null | tr '\n' ' '; }
