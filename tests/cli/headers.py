"""Every prototype of include/mend says whether it is collective, and names its errors (or that it has none): in the
comment above it, which may stand for several prototypes up to a blank line, or at its end."""
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.S)
PART = re.compile(r"^/\*.*?\*/|^MEND_API[^;{]*;[^\n]*|^$", re.S | re.M)


def missing(text):
    """(function, what it does not say) of each prototype that lacks something."""
    about, found = "", 0
    for part in PART.findall(text):
        if part.startswith("/*"):
            about = part
        elif not part:
            about = ""
        else:
            found += 1
            said = (about + " ".join(COMMENT.findall(part))).lower().replace("\n *", " ")
            name = re.search(r"(\w+)\s*\(", part).group(1)
            for what, word in (("collective", "collective"), ("errors", r"\berrors?\b")):
                if not re.search(word, said):
                    yield name, what
    if found == 0 and "MEND_API" in text.replace("#define MEND_API", ""):
        yield "-", "prototype that this test finds"


bad = 0
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as header:
        for name, what in missing(header.read()):
            print(f"FAIL: {path}: {name}: no word on '{what}'")
            bad = 1
# and the check itself can fail
wrong = "/* Adds. Errors: none. */\nMEND_API int add(int a);\n\nMEND_API int less(int a);\n"
if len(list(missing(wrong))) != 3:
    print("FAIL: the check sees nothing")
    bad = 1
if not bad:
    print(f"PASS: {len(sys.argv) - 1} headers")
sys.exit(bad)
