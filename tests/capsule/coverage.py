#!/usr/bin/env python3
"""coverage.py SOURCE BUILD INCLUDE_OPENMPI LIB_OPENMPI LIB_MPIFH [INCLUDE_MPICH LIB_MPICH]

Is the list of MPI functions complete? Every function that mpi.h declares or the real library exports is either carried by
the face of that ABI or refused by name (src/capsule/table/refused.def). Prints the counts and the names that are missing.

Fortran: Open MPI's libmpi_mpifh is replaced, so that every name of it that a compiler can ask for must be ours. The module
libraries (libmpi_usempif08, libmpi_usempi_ignore_tkr), MPICH's libmpichfort and, for C++, its libmpichcxx stay: all that they
want of the C library must be ours.
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
    text = "".join(f.read_text() for f in sorted((source / "src/capsule/table").glob("refused*.def")))
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return set(re.findall(r"^REFUSED\w*\((\w+),", text, flags=re.M))


def replaced(names, face, no):
    """Names of libmpi_mpifh: functions as gfortran calls them, and with none or two underscores. Names in capitals and those
    that end in _f or _f08 are left out: no compiler for Linux makes them, they are for C inside Open MPI."""
    wanted = {n for n in names if re.fullmatch(r"p?mpix?_[a-z]\w*?_{0,2}|ompix?_[a-z]\w*_f", n)}
    functions = {n.strip("_") for n in wanted if re.fullmatch(r"mpix?_\w*[a-z0-9]_", n)}
    absent = sorted(wanted - face)
    refusals = {f for f in functions if f in {"mpi_" + n.lower() for n in no} or f.startswith("mpix_")}
    print(f"Fortran (Open MPI): {len(functions)} functions under {len(wanted)} names: {len(functions) - len(refusals)} carried, "
          f"{len(refusals)} refused by name, {len(absent)} names missing; {len(names - wanted)} names left out (capitals, _f, _f08)")
    if absent:
        print("  MISSING: " + " ".join(absent))
    return bool(absent)


def served(library, face):
    text = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True).stdout
    wanted = {line.split()[-1].split("@")[0] for line in text.splitlines()}
    wanted = {n for n in wanted if re.match(r"(P?MPI|MPIX|PMPIX|MPIR|MPII|MPIO|ompi|p?mpi|mpix|ompix)_", n, re.I)}
    absent = sorted(wanted - face - exported(library))
    print(f"{library.name}: wants {len(wanted)} names of MPI, {len(absent)} missing")
    if absent:
        print("  MISSING: " + " ".join(absent))
    return bool(absent)


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
    lib = Path(sys.argv[5])
    face = exported(build / "lib/mend/openmpi/libmpi.so.40")
    failed |= replaced(exported(lib), face, no)
    for name in ("libmpi_usempif08.so.40", "libmpi_usempi_ignore_tkr.so.40"):
        failed |= served(lib.parent / name, face)
    if len(sys.argv) > 6:
        face = exported(build / "lib/mend/mpich/libmpi.so.12")
        lib = Path(sys.argv[7]).resolve()
        failed |= served(lib.parent / "libmpichfort.so.12", face)
        if (lib.parent / "libmpichcxx.so.12").exists():  # MPICH may be built without C++
            failed |= served(lib.parent / "libmpichcxx.so.12", face)
    return 1 if failed else 0


sys.exit(main())
