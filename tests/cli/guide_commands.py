"""guide_commands.py SOURCE BUILD [PAGE]: the commands in README, CONTRIBUTING and the guide.

Without PAGE, checks all pages; one line for each thing that is wrong, 1 if there is any:
  - every command in a fenced block is in guide_commands.txt, which says whether a test runs it or why it is only read;
  - every `mend SUB --option`, in blocks and in text, is one of that subcommand; every `make TARGET` is one;
  - every path into the source is there; every MEND_ name is known, and every `word.word` that looks like a setting, an event or
    a test is one.
With PAGE, prints the commands of that page that are to be run, as a script.

A block without a language is commands; in one with lines that begin with "$ ", these are the commands and the others are what they
print. A block of anything else names its language (c, python, text …).
"""
import glob
import os
import re
import shlex
import sys

LANGUAGES = {"c", "c++", "diff", "fortran", "ini", "json", "python", "text"}
# names that begin with MEND_ and are set or read elsewhere than in config_keys.def
PLACES = ("include", "src", "cmake", "env", "contrib", "tests", "tools", "CMakeLists.txt")
# what looks like a setting and is something else
OTHERS = {"capsule.mpich": "a program", "capsule.openmpi": "a program", "store.steps": "a method in Python"}
TOP = ("apps", "bench", "bindings", "cmake", "contrib", "debian", "docs", "env", "examples", "include", "src", "tests", "tools")


class Source:
    def __init__(self, root, build):
        self.root, self.build = root, build
        self.pages = ["README.md", "CONTRIBUTING.md"] + sorted("docs/guide/" + f for f in os.listdir(os.path.join(root, "docs/guide"))
                                                               if f.endswith(".md"))
        self.commands = set(re.findall(r"^COMMAND\((\w+)", self.read("tools/mend/commands.def"), re.M))
        self.options = {c: {"--help"} for c in self.commands}
        for command, name, letter in re.findall(r'^OPTION\((\w+), +"([\w-]+)", +(0|\'.\')', self.read("tools/mend/options.def"), re.M):
            self.options[command].add("--" + name)
            if letter != "0":
                self.options[command].add("-" + letter[1])
        for command in "plan", "simulate":  # these read their options themselves
            self.options[command] |= {"--" + n for n in re.findall(r'^    \{"([\w-]+)", ', self.read("tools/mend/plan/planning.c"), re.M)}
        self.options["cc"] |= set(re.findall(r'"(--[a-z]+)"', self.read("tools/mend/cc.c")))
        self.targets = set(re.search(r"^\.PHONY: (.*)", self.read("Makefile"), re.M).group(1).split())
        self.keys = set(re.findall(r'^CONFIG_KEY\(\w+, "(\w+)", "(\w+)"', self.read("src/base/include/base/config_keys.def"), re.M))
        self.events = set(re.findall(r'"const": "([\w.]+)"', self.read("share/events/events.schema.json")))
        self.variables = {f"MEND_{s}_{n}".upper() for s, n in self.keys} | self.names()

    def read(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    def tests(self):
        """Names of the tests of this build; and, for it may lack what some need, patterns of those that CMake would add of which
        it has none."""
        found, patterns = set(), set()
        for path in glob.glob(os.path.join(self.build, "**/CTestTestfile.cmake"), recursive=True):
            with open(path, encoding="utf-8") as file:
                found |= set(re.findall(r"^add_test\((?:\[=+\[)?([\w.]+)", file.read(), re.M))
        for path in [p for n in ("*.cmake", "CMakeLists.txt") for p in glob.glob(os.path.join(self.root, "tests/**", n), recursive=True)]:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for kind, test in re.findall(r"(mend_cli_test|add_mpi_test|mend_limited_test|mend_unit_test|add_test)\(NAME ([\w.${}]+)", text):
                prefix = {"mend_cli_test": r"cli\.", "add_mpi_test": r"mpi\.", "mend_unit_test": r"unit\."}.get(kind, "")
                patterns.add(prefix + re.sub(r"\$\{\w+\}", "[A-Za-z0-9_.]+", test.replace(".", r"\.")))
        return found, {p for p in patterns if not any(re.fullmatch(p, t) for t in found)}

    def names(self):
        """MEND_ names of the source, but not those of the pages, nor of this test."""
        found = set()
        for place in PLACES:
            top = os.path.join(self.root, place)
            files = [top] if os.path.isfile(top) else [os.path.join(d, f) for d, _, fs in os.walk(top) for f in fs]
            for path in [p for p in files if not os.path.basename(p).startswith("guide_commands.")]:
                try:
                    with open(path, encoding="utf-8") as file:
                        found |= set(re.findall(r"MEND_[A-Z][A-Z0-9_]*", file.read()))
                except (UnicodeDecodeError, OSError):
                    continue
        return found


def split(text):
    """As the shell does, nearly; a sign of the shell is a word of its own."""
    text = re.sub(r"([;&|<>]+)", r" \1 ", re.sub(r"\$\([^)]*\)", "$()", text.replace("\\\n", " ")))
    try:
        return shlex.split(text)
    except ValueError:  # an apostrophe in a sentence
        return text.split()


def blocks(text):
    """(line, language, lines) of each fenced block."""
    inside = None
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r" *```", line):
            if inside is None:
                inside = (number, line.strip()[3:].strip(), [])
            else:
                yield inside
                inside = None
        elif inside is not None:
            inside[2].append(line)


def commands_of(lines):
    """Commands, those over several lines as one; without the comments at their ends."""
    if any(line.startswith("$ ") for line in lines):
        kept, more = [], False
        for line in lines:
            if line.startswith("$ ") or more:
                kept.append(line[2:] if not more else line)
                more = line.rstrip().endswith(("\\", "|"))
        lines = kept
    command = ""
    for line in lines:
        line = re.sub(r"\s+#\s.*$", "", line).rstrip()
        command += ("\n" if command else "") + line
        if line and not line.endswith(("\\", "|")):
            yield command
            command = ""


class Check:
    def __init__(self, source):
        self.source, self.wrong, self.listed = source, 0, []
        self.sections = {s for s, _ in source.keys}
        self.tests = source.tests()
        table = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guide_commands.txt")
        with open(table, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip() and not line.startswith("#"):
                    parts = [p.strip() for p in line.split(" | ")]
                    if len(parts) != 3 or not re.match(r"run$|by [a-z_]+(\.[\w.]+)?( \(.*\))?$|read: .+$", parts[2]):
                        self.complain(f"guide_commands.txt:{number}: not PAGE | COMMAND | run, by TEST, or read: WHY")
                        continue
                    self.listed.append({"page": parts[0], "command": parts[1], "how": parts[2], "line": number, "used": False})

    def complain(self, text):
        print("FAIL:", text)
        self.wrong += 1

    def entry(self, page, command):
        """Its row; the longest one, where the command's beginning is given."""
        whole = " ".join(command.replace("\\\n", " ").split())
        rows = [r for r in self.listed if r["page"] == page and
                (r["command"] == whole or (r["command"].endswith(" …") and whole.startswith(r["command"][:-1])))]
        return max(rows, key=lambda r: len(r["command"])) if rows else None

    def mend(self, where, words):
        """What follows the word `mend`, up to a -- or a sign of the shell."""
        if not words or words[0] in ("--help", "--version"):
            return
        sub = words[0]
        if sub not in self.source.commands:
            self.complain(f"{where}: there is no mend {sub}")
            return
        for word in words[1:]:
            if word == "--" or word[0] in ";&|<>#$":
                break
            if sub == "cc" and not word.startswith("--"):
                break  # the rest is the compiler's
            name = word.split("=")[0]
            if re.match(r"-[a-zA-Z]\d+$", name):
                name = name[:2]
            if name.startswith("-") and name not in self.source.options[sub]:
                self.complain(f"{where}: mend {sub} has no option {name}")

    def make(self, where, words):
        for word in words:
            if word[0] in ";&|<>#$":
                break
            if "=" not in word and not word.startswith("-") and word not in self.source.targets:
                self.complain(f"{where}: there is no make {word}")

    def text(self, where, text):
        """One command, or what is between two backticks."""
        words = split(text)
        for i, word in enumerate(words):
            bare = word.lstrip("(\"'").rstrip(",.;:)\"'")
            if (bare == "mend" or bare.endswith("bin/mend")) and (i == 0 or words[i - 1] in ("--", "until")
                                                                  or words[i - 1][0] in ";&|" or "=" in words[i - 1]):
                self.mend(where, words[i + 1:])
            if bare == "make" and (i == 0 or words[i - 1][0] in ";&"):
                self.make(where, words[i + 1:])
            self.path(where, bare.split("=")[-1])
        for name in re.findall(r"\bMEND_[A-Z][A-Z0-9_]*\*?", text):
            if name.endswith("_") or name.endswith("*"):
                if not any(v.startswith(name.rstrip("*")) for v in self.source.variables):
                    self.complain(f"{where}: no name begins with {name}")
            elif name not in self.source.variables:
                self.complain(f"{where}: {name} is known nowhere")

    def path(self, where, word):
        word = word.split(":")[0].rstrip("/")
        if re.match(r"build/(bin|lib|examples|tools)/[\w./-]+$", word) and os.path.isdir(os.path.join(self.source.build, "examples")) \
                and not os.path.exists(os.path.join(self.source.build, word[6:])):
            self.complain(f"{where}: the build makes no {word}")
        if not re.match(r"(%s)/[\w./*+-]+$" % "|".join(TOP), word) or "…" in word or re.search(r"(^|/|-)[A-Z]+($|[/.])", word):
            return  # not a path of ours, or one with a word in place of a name
        root = self.source.root
        inside = [os.path.join(root, word), os.path.join(root, "src", word), os.path.join(root, "src/capsule/lower", word),
                  os.path.join(root, "include", word), os.path.join(root, "tests/fault", word)]
        if not any(glob.glob(p) for p in inside):
            self.complain(f"{where}: there is no {word}")

    def key(self, where, text):
        match = re.fullmatch(r"([a-z]+)\.([a-z_]+)( = .*)?", text)
        if not match or match.group(1) not in self.sections or match.group(2) in ("c", "h", "md", "sh", "so", "py", "conf", "html", "def"):
            return
        name = match.group(1) + "." + match.group(2)
        if (match.group(1), match.group(2)) not in self.source.keys and name not in self.source.events and name not in OTHERS \
                and not self.is_test(name):
            self.complain(f"{where}: {text} is no setting, event or test")

    def page(self, page):
        text = self.source.read(page)
        for number, language, lines in blocks(text):
            if language and language not in LANGUAGES:
                self.complain(f"{page}:{number}: a block of {language}: what is that?")
            if language:
                continue
            for command in commands_of(lines):
                where = f"{page}:{number}: {command.split(chr(10))[0][:60]}"
                row = self.entry(page, command)
                if row is None:
                    self.complain(f"{where}: not in guide_commands.txt: say whether a test runs it")
                else:
                    row["used"] = True
                self.text(where, command)
        prose = re.sub(r"(?ms)^ *```.*?^ *```$", lambda m: "\n" * m.group(0).count("\n"), text)
        for number, line in enumerate(prose.split("\n"), 1):
            for span in re.findall(r"`([^`]+)`", line):
                self.text(f"{page}:{number}", span)
                self.key(f"{page}:{number}", span)

    def all(self):
        for page in self.source.pages:
            self.page(page)
        for row in self.listed:
            if not row["used"]:
                self.complain(f"guide_commands.txt:{row['line']}: {row['page']} has no such command")
            test = re.match(r"by ([\w.]+)", row["how"])
            if test and not self.is_test(test.group(1)):
                self.complain(f"guide_commands.txt:{row['line']}: there is no test {test.group(1)}")
        return self.wrong

    def is_test(self, name):
        known, patterns = self.tests
        return any(t == name or t.startswith(name + ".") for t in known) or any(re.fullmatch(p, name) for p in patterns)


def main():
    check = Check(Source(sys.argv[1], sys.argv[2]))
    if len(sys.argv) > 3:
        for _, language, lines in blocks(check.source.read(sys.argv[3])):
            for command in commands_of(lines) if not language else ():
                row = check.entry(sys.argv[3], command)
                if row and row["how"] == "run":
                    print(command)
        return 0
    wrong = check.all()
    run = sum(r["how"] == "run" for r in check.listed)
    by = sum(r["how"].startswith("by ") for r in check.listed)
    print(f"{len(check.source.pages)} pages, {len(check.listed)} commands: {run} run by cli.guide_commands_run, {by} by other tests, "
          f"{len(check.listed) - run - by} only read")
    return wrong > 0


sys.exit(main())
