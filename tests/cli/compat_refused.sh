#!/usr/bin/env bash
# What the headers of other systems do not carry does not compile, and the message names it.
set -uo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; exit 1; }
cd "$scratch" || exit 1
compile() { # LANGUAGE: program.LANGUAGE
    case $1 in c) set -- mpicc.openmpi program.c ;; *) set -- mpicxx.openmpi program.cpp ;; esac
    "$MEND_SOURCE/env/run" "$@" -O1 -c -o program.o -I"$MEND_SOURCE/include/compat" -I"$MEND_SOURCE/include" >said 2>&1
}
refused() { # NAME CALL
    printf '#include <fti.h>\nint main(void)\n{\n    FTIT_hsize_t *n = NULL;\n    FTIT_H5Group *g = NULL;\n    (void)n, (void)g, (void)(%s);\n    return 0;\n}\n' "$2" >program.c
    ! compile c || fail "$1 compiles"
    grep -q "$1 is not supported by Mend's fti.h" said || fail "$1: the message does not name it: $(cat said)"
}
refused FTI_BitFlip 'FTI_BitFlip(1)'
refused FTI_SendFile 'FTI_SendFile("a", "b")'
refused FTI_GetStageDir 'FTI_GetStageDir(NULL, 0)'
refused FTI_GetStageStatus 'FTI_GetStageStatus(1) == FTI_SI_PEND'
refused FTI_SetAttribute 'FTI_SetAttribute(1, (FTIT_attribute){.name = "a", .dim = {1, {2}}}, FTI_ATTRIBUTE_NAME | FTI_ATTRIBUTE_DIM)'
refused FTI_InitGroup 'FTI_InitGroup(g, "a", NULL)'
refused FTI_RenameGroup 'FTI_RenameGroup(g, "a")'
refused FTI_DefineDataset 'FTI_DefineDataset(1, 1, NULL, "a", g)'
refused FTI_DefineGlobalDataset 'FTI_DefineGlobalDataset(1, 1, n, "a", g, FTI_INTG)'
refused FTI_UpdateGlobalDataset 'FTI_UpdateGlobalDataset(1, 1, n)'
refused FTI_AddSubset 'FTI_AddSubset(1, 1, n, n, 0)'
refused FTI_UpdateSubset 'FTI_UpdateSubset(1, 1, n, n, 0)'
refused FTI_RecoverDatasetDimension 'FTI_RecoverDatasetDimension(0)'
refused FTI_GetDatasetRank 'FTI_GetDatasetRank(0)'
refused FTI_GetDatasetSpan 'FTI_GetDatasetSpan(0, 1)'
refused FTI_GetConfig 'FTI_GetConfig("a", MPI_COMM_WORLD).configuration.ioMode'
# the same program without such a call compiles: the refusals are not an accident
printf '#include <fti.h>\nint main(void)\n{\n    return FTI_Status() + FTI_getIDFromString("a") + FTI_FinalizeICP();\n}\n' >program.c
compile c || fail "a program with supported calls: $(cat said)"
for header in fenix.hpp veloc.hpp; do
    printf '#include <%s>\nint main()\n{\n    return 0;\n}\n' $header >program.cpp
    ! compile cpp || fail "$header compiles"
    grep -q "$header is not supported by Mend" said || fail "$header: the message does not name it: $(cat said)"
done
echo PASS
