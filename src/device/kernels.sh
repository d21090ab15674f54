#!/usr/bin/env bash
# kernels.sh [--check]: make kernels.ptx.inc from kernels.cu by nvcc, or see whether it still belongs to it.
# The text asks for an old version of the language, so that the drivers of the last years take it; it is checked
# that the assembler agrees.
set -euo pipefail
cd "$(dirname "$0")"
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null) || { echo "SKIP: no nvcc"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sum=$(sha256sum kernels.cu | cut -c1-64)
if [ "${1:-}" = --check ]; then
    grep -q "$sum" kernels.ptx.inc || { echo "FAIL: kernels.ptx.inc was not made from this kernels.cu: run src/device/kernels.sh"; exit 1; }
fi
oldest=$("$nvcc" --list-gpu-arch | sed -n 's/compute_//p' | sort -n | head -1)
"$nvcc" -O3 -arch="compute_$oldest" -ptx -o "$work/new.ptx" kernels.cu
sed -e 's/^\.version .*/.version 6.4/' -e 's/^\.target .*/.target sm_70/' -e '/^\/\//d' -e '/^$/d' "$work/new.ptx" >"$work/kernels.ptx"
"$(dirname "$nvcc")/ptxas" -arch="sm_$oldest" -o "$work/out" "$work/kernels.ptx"
if [ "${1:-}" = --check ]; then echo "PASS"; exit 0; fi
{
    echo "/* Made from kernels.cu by kernels.sh. Its sum then:"
    echo " * $sum */"
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/\t/ /g' -e 's/.*/"&\\n"/' "$work/kernels.ptx"
} >kernels.ptx.inc
