#!/usr/bin/env bash
# process_news.sh PROGRAM LIBRARY: see process_news.c
# shellcheck disable=SC2086
exec $MEND_MPIRUN -n $((MEND_TEST_NP + MEND_TEST_SPARES)) -x LD_PRELOAD="$2" "$1"
