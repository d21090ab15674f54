#!/usr/bin/env bash
# The public headers: see headers.py.
set -uo pipefail
python3 -c '' 2>/dev/null || { echo "SKIP: no python3"; exit 77; }
cd "$MEND_SOURCE" && exec python3 -B tests/cli/headers.py include/mend/*.h
