# The GPU driver's library that belongs to the kernel's driver: a system may have several, and all others end with CUDA's error 803.
# shellcheck shell=bash
find_driver() {
    local version folder
    version=$(grep -oE -m 1 '[0-9]{3}\.[0-9]+(\.[0-9]+)?' /proc/driver/nvidia/version 2>/dev/null | head -n 1)
    for folder in ${LD_LIBRARY_PATH//:/ } /usr/local/nvidia/lib64 /usr/lib/*-linux-gnu /usr/lib64 /usr/local/cuda/compat; do
        [ -e "$folder/libcuda.so.1" ] && [ -e "$folder/libcuda.so.$version" ] && { echo "$folder/libcuda.so.1"; return; }
    done
    ls /usr/lib/*-linux-gnu/libcuda.so.1 /usr/lib64/libcuda.so.1 /usr/local/cuda/compat/libcuda.so.1 2>/dev/null | head -n 1
}
