#!/usr/bin/env bash
# unit.sh arguments: the package without libmend and without MPI, by any python3.
# unit.sh store: over libmend, by the python3 of env/python, which runs on the same C library.
set -uo pipefail
export PYTHONPATH=$MEND_SOURCE/bindings/python PYTHONDONTWRITEBYTECODE=1
cd "$(mktemp -d)" || exit 1
case $1 in
    arguments)
        python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null || { echo "SKIP: no python3 of version 3.8 or later"; exit 77; }
        python3 "$MEND_SOURCE/tests/python/test_arguments.py" ;;
    store)
        reason=$("$MEND_SOURCE/env/python" --fetch 2>&1) || {
            case $reason in *"does not work"*) echo "FAIL: $(tail -1 <<<"$reason")"; exit 1 ;; esac
            echo "SKIP: Python with NumPy and mpi4py cannot be had here: $(tail -1 <<<"$reason")"; exit 77
        }
        # an installed copy finds the library beside itself
        mkdir -p installed/share/mend/python installed/lib/any
        cp -r "$MEND_SOURCE/bindings/python/mend" installed/share/mend/python/
        ln -s "$MEND_BUILD/lib/libmend.so.0" installed/lib/any/
        found=$(PYTHONPATH=installed/share/mend/python "$MEND_SOURCE/env/python" python3 -c 'import mend._library as it; print(it.library()._name)')
        [ "$found" = "$PWD/installed/lib/any/libmend.so.0" ] || { echo "FAIL: an installed package loads '$found'"; exit 1; }
        MEND_LIBRARY=$MEND_BUILD/lib/libmend.so.0 "$MEND_SOURCE/env/python" python3 "$MEND_SOURCE/tests/python/test_store.py" ;;
esac
