#!/usr/bin/env python3
"""complete.py SOURCE FACE PROGRAM: has every function that the capsule carries a case in the conformance suite?

FACE is the library that a program is given in the capsule, made from src/capsule/table: each MPI function that it exports must
be called by PROGRAM, but for those that are refused by name and those of EXCEPT. So a new row of the table has a case, or this
fails.
"""
import re
import subprocess
import sys
from pathlib import Path

EXCEPT = {
    r"MPI_T_\w+": "the tools interface shows what the library below is made of: chapters/tool.c",
    r"MPI_(Finalize|Init_thread|Abort)": "ends or begins the job: every test, hybrid programs, commands.sh",
    r"MPI_(Address|Errhandler_(create|get|set)|Type_(extent|hindexed|hvector|lb|ub|struct))": "removed from the standard; legacy.c",
    r"MPI_\w+_(FN|fromint|toint)|MPI_Aint_(add|diff)|MPI_DUP_FN": "constants, or macros in one of the libraries",
}


def symbols(path, what):
    text = subprocess.run(["nm", "-D", what, path], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in text.splitlines()}


def refused(source):
    text = re.sub(r"/\*.*?\*/", " ", (source / "src/capsule/table/refused.def").read_text(), flags=re.S)
    return {"MPI_" + name for name in re.findall(r"^REFUSED\w*\((\w+),", text, flags=re.M)}


def main():
    source, face, program = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    functions = {s for s in symbols(face, "--defined-only") if re.fullmatch(r"MPI_[A-Z]\w*[a-z]\w*", s)}
    functions -= refused(source)
    functions = {f for f in functions if not any(re.fullmatch(e, f) for e in EXCEPT)}
    absent = sorted(functions - symbols(program, "--undefined-only"))
    print(f"{len(functions)} functions, {len(functions) - len(absent)} with a case")
    if absent:
        print("WITHOUT: " + " ".join(absent))
    return 1 if absent else 0


sys.exit(main())
