#!/usr/bin/env bash
# The libraries export public names only: each mend_ name is declared MEND_API in a public header, and the
# names of the faces are those of the systems they stand for. Static libraries define the same names.
set -uo pipefail
[ -e "$MEND_BUILD/lib/libmend.so" ] || { echo "SKIP: built without MPI"; exit 77; }
bad=0
complain() { echo "FAIL: $*"; bad=1; }
public=$(cat "$MEND_SOURCE"/include/mend/*.h | tr '\n' ' ' | grep -oE 'MEND_API[^;{]*[;{]' | grep -oE '\bmend_[a-z0-9_]+ *(\(|;|\[)' | tr -d ' (;[' | sort -u)
for library in libmend.so libmend-store.so libmend-core.so; do
    exported=$(nm -D --defined-only "$MEND_BUILD/lib/$library" | awk '$2 != "A" {print $3}' | sed 's/@.*//' | sort -u)
    [ -n "$exported" ] || complain "$library exports nothing"
    for name in $exported; do
        case $name in
            mend_*) grep -qx "$name" <<<"$public" || complain "$library exports $name, which no public header declares MEND_API" ;;
            Fenix_* | __fenix_* | FENIX_* | VELOC_* | FTI_* | SCR_* | scr_*_) ;;
            # process recovery follows communicators by these; a program with the store alone has none of them
            MPI_* | PMPI_*) [ $library = libmend.so ] || complain "$library interposes $name" ;;
            ompi_comm_request_schedule_append_w_flags) ;; # of Open MPI, for its faults (ulfm/making.c)
            *) complain "$library exports $name" ;;
        esac
    done
done
exported=$(nm -D --defined-only "$MEND_BUILD/lib/libmend.so" | awk '$2 != "A" {print $3}' | sed 's/@.*//')
missing=$(for name in $public; do grep -qx "$name" <<<"$exported" || echo "$name"; done | tr '\n' ' ')
[ -z "$missing" ] || complain "declared in a public header, but not in libmend.so: $missing"
for library in libmend libmend-store libmend-core; do
    static=$(nm -g --defined-only "$MEND_BUILD/lib/$library.a" | awk 'NF==3 {print $3}' | sort -u)
    shared=$(nm -D --defined-only "$MEND_BUILD/lib/$library.so" | awk '$2 != "A" {print $3}' | sed 's/@.*//' | sort -u)
    [ "$static" = "$shared" ] || complain "$library.a and .so differ: $(comm -3 <(echo "$static") <(echo "$shared") | tr -s '\n\t' '  ')"
done
mpi=$(nm -D --undefined-only "$MEND_BUILD/lib/libmend-core.so" | awk '{print $2}' | grep -E '^P?MPIX?_' | tr '\n' ' ')
[ -z "$mpi" ] || complain "libmend-core.so uses MPI: $mpi"
[ $bad = 0 ] && echo PASS
exit $bad
