#!/usr/bin/env python3
"""coverage.py SOURCE BUILD INCLUDE_OPENMPI LIB_OPENMPI LIB_MPIFH [INCLUDE_MPICH LIB_MPICH]

Is the list of MPI functions complete? Every function that mpi.h declares or the real library exports is either carried by
the face of that ABI or refused by name (src/capsule/refused.def). Prints the counts and the names that are missing.
"""
import re
import subprocess
import sys
from pathlib import Path


def exported(library):
    text = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[2].split("@")[0] for line in text.splitlines() if len(line.split()) == 3}


def declared(include):
    text = "".join(f.read_text(errors="replace") for f in sorted(Path(include).glob("mpi*.h")))
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return set(re.findall(r"\b(MPI_[A-Z]\w*[a-z]\w*)\s*\(", text))


def refused(source):
    text = "".join(f.read_text() for f in sorted((source / "src/capsule").glob("refused*.def")))
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return set(re.findall(r"^REFUSED\w*\((\w+),", text, flags=re.M))


def main():
    source, build = Path(sys.argv[1]), Path(sys.argv[2])
    no = refused(source)
    failed = False
    abis = [("openmpi", sys.argv[3], sys.argv[4], "libmpi.so.40")]
    if len(sys.argv) > 6:
        abis.append(("mpich", sys.argv[6], sys.argv[7], "libmpi.so.12"))
    for abi, include, library, soname in abis:
        real = {s for s in exported(library) if re.match(r"MPI_[A-Z]\w*[a-z]", s)}
        known = declared(include)
        wanted = real | {n for n in known if n in real}
        face = exported(build / "lib/mend" / abi / soname)
        absent = sorted(n for n in wanted if n not in face or "P" + n not in face)
        refusals = sorted(n for n in wanted if n[4:] in no and n in face)
        carried = wanted - set(absent) - set(refusals)
        tool = {n for n in carried if n.startswith("MPI_T_")}
        large = {n for n in carried if n.endswith("_c")}
        print(f"{abi}: {len(wanted)} functions exported by the library: {len(carried)} carried "
              f"({len(large)} with large counts, {len(tool)} MPI_T), {len(refusals)} refused by name, {len(absent)} missing")
        if refusals:
            print("  refused: " + " ".join(refusals))
        if absent:
            print("  MISSING: " + " ".join(absent))
            failed = True
    fortran = {s for s in exported(sys.argv[5]) if re.fullmatch(r"p?mpi_[a-z]\w*[a-z0-9]_|ompi_[a-z]\w*_f", s)}
    face = exported(build / "lib/mend/openmpi/libmpi.so.40")
    absent = sorted(fortran - face)
    print(f"Fortran (Open MPI): {len(fortran)} names, {len(absent)} missing")
    if absent:
        print("  MISSING: " + " ".join(absent))
        failed = True
    return 1 if failed else 0


sys.exit(main())
