#!/usr/bin/env python3
"""thread_pointer.py [--objdump PROGRAM] LIBRARY…

Does the compiled code of the upper half look at the thread pointer while it is the lower half's? C knows nothing of a thread
pointer that changes: a compiler may read it again after a call instead of keeping the value in a register, or move the
address of a thread-local variable to where the other half's is in force. So the result is looked at: from the first
instruction of each function along all branches, the thread pointer is the upper half's until it is set, then the lower
half's until it is set again. Prints the places where it is read, a function of the upper half called (an argument of the
call) or the function left, while it is the lower half's.
Where the branches of a switch go is not read: whatever nothing else leads to is one of them.
"""
import re
import subprocess
import sys

UPPER, LOWER = "upper", "lower"
# They are there to deal with either, and read it by volatile assembler instructions alone.
EITHER = {"on_signal", "context_resume"}


class Aarch64:
    read = re.compile(r"^mrs\s+\w+, tpidr_el0")
    write = re.compile(r"^msr\s+tpidr_el0,")
    leave = re.compile(r"^(ret|br)\b")
    table = re.compile(r"^br\b")
    go = re.compile(r"^b\s+([0-9a-f]+)")
    branch = re.compile(r"^(?:b\.\w+|cbn?z|tbn?z)\s.*?\b([0-9a-f]+) <")
    call = re.compile(r"^bl\s+[0-9a-f]+ <(.+)>")
    stop = re.compile(r"^((udf|brk)\b|bl\s.*<(_exit|exit|abort)@plt>)")
    by_call = False


class X86:
    read = re.compile(r"%fs:")  # a thread-local variable, or the word that points to itself
    write = re.compile(r"^wrfsbase\b")
    leave = re.compile(r"^(ret|(notrack )?jmp\s+\*)")
    table = re.compile(r"^(notrack )?jmp\s+\*%")
    go = re.compile(r"^jmp\s+([0-9a-f]+)")
    branch = re.compile(r"^j\w+\s+([0-9a-f]+)")
    call = re.compile(r"^call\s+[0-9a-f]+ <(.+)>")
    stop = re.compile(r"^((ud2|hlt)\b|call\s.*<(_exit|exit|abort)@plt>)")
    by_call = True  # where there is no wrfsbase: arch_prctl(ARCH_SET_FS)


def disassemble(objdump, library):
    """Address -> (instruction, address of the next one), and address -> function (static ones may share a name)."""
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", "-j", ".text", "-j", "mend_fast", library], capture_output=True,
                          text=True, check=True).stdout
    cpu = X86 if "elf64-x86-64" in text else Aarch64
    code, functions, last = {}, {}, None
    for line in text.splitlines():
        m = re.match(r"([0-9a-f]+) <(.+)>:$", line)
        if m:
            functions[int(m[1], 16)] = m[2]
            continue
        m = re.match(r"\s+([0-9a-f]+):\s+(.+?)\s*$", line)
        if m:
            here = int(m[1], 16)
            code[here] = [m[2], None]
            if last is not None:
                code[last][1] = here
            last = here
    return cpu, code, functions


def is_arch_prctl(code, before, here):
    """The system call at `here`: no other use of arch_prctl is in the upper half."""
    for _ in range(12):
        here = before.get(here)
        if here is None or re.match(r"syscall|call", code[here][0]):
            return False
        if re.match(r"mov\s+\$0x9e,%[er]ax", code[here][0]):
            return True
    return False


def first_unreached(code, functions, here, reached):
    while here is not None:
        if here not in reached and not re.match(r"(nop|xchg\s+%ax,%ax|cs nop|data16)", code[here][0]):
            return here
        here = code[here][1]
        if here in functions:
            return None
    return None


def check(objdump, library):
    cpu, code, functions = disassemble(objdump, library)
    before = {after: here for here, (_, after) in code.items()}
    problems, switches = [], 0
    for start, name in functions.items():
        if name in EITHER or name.endswith(".cold") or start not in code:
            continue
        seen, todo, tables, reached = set(), [(start, UPPER)], set(), set()
        while todo or tables:
            if not todo:
                here = first_unreached(code, functions, start, reached)
                if here is None:
                    break
                todo += [(here, state) for state in tables]
            here, state = todo.pop()
            if (here, state) in seen or here not in code:
                continue
            seen.add((here, state))
            reached.add(here)
            text, after = code[here]
            if cpu.write.match(text) or (cpu.by_call and text == "syscall" and is_arch_prctl(code, before, here)):
                switches += state == UPPER
                state = LOWER if state == UPPER else UPPER
            elif cpu.read.search(text) and state == LOWER:
                problems.append((name, here, "reads it"))
            elif cpu.call.match(text) and state == LOWER:
                problems.append((name, here, "calls its own half"))
            if cpu.leave.match(text):
                if cpu.table.match(text):
                    tables.add(state)
                elif state == LOWER:
                    problems.append((name, here, "leaves with it"))
                continue
            if cpu.stop.match(text):
                continue
            m = cpu.go.match(text)
            if m:
                target = int(m[1], 16)
                if target in functions and target != start and not functions[target].endswith(".cold"):
                    if state == LOWER:
                        problems.append((name, here, "leaves with it"))
                else:
                    todo.append((target, state))
                continue
            m = cpu.branch.match(text)
            if m:
                todo.append((int(m[1], 16), state))
            if after is not None and (after not in functions or after == start):
                todo.append((after, state))
    for name, here, what in problems:
        print(f"FAIL  {library}: {name} {what} at {here:x}: {code[here][0]}")
    print(f"{library}: {len(functions)} functions, {switches} calls of the lower half, {len(problems)} wrong")
    return switches > 0 and not problems


def main():
    arguments = sys.argv[1:]
    objdump = "objdump"
    if arguments[0] == "--objdump":
        objdump, arguments = arguments[1], arguments[2:]
    good = [check(objdump, library) for library in arguments]
    sys.exit(0 if all(good) else 1)


main()
