"""A public header as a page: every declaration with the comment above it."""
import re

from prose import Document, code_block, coloured, escape

WORD = re.compile(r"\b([A-Za-z_]\w+)(\(\))?")
GUARD = re.compile(r'#\s*(ifdef|ifndef|if|else|elif|endif|pragma|undef|include)\b|extern "C"|\}\s*$')
SECTION = re.compile(r"/\* -{2,} (.*?) -{2,} \*/")


class Header:
    """Reads the whole file first (names), so that every page can link to it; html() comes later."""

    def __init__(self, name, text):
        self.name = name
        self.fortran = not text.startswith("/*")
        self.includes = [] if self.fortran else re.findall(r"(?m)^#\s*include <(mend/[\w.]+)>", text)
        if self.fortran:
            lines = text.split("\n")
            n = next(i for i, line in enumerate(lines) if not line.startswith("!"))
            self.intro = [line[1:].removeprefix(" ") for line in lines[:n]]
            self.chunks = [("code", [], lines[n:])]
            self.names = {}
            return
        lines = text.rstrip().split("\n")
        self.intro, i = comment(lines, 0)
        self.chunks = chunks(lines[i:])
        self.names = {}  # name in C: its anchor
        for kind, _, code in self.chunks:
            if kind == "code":
                for symbol in names(code):
                    self.names.setdefault(symbol, symbol)
                for row in error_rows(code):
                    self.names["MEND_" + row[0]] = "MEND_" + row[0]

    def html(self, links):
        """The page, as a Document; links.code(name) says where a name is declared."""
        self.links = links
        document = Document()
        document.heading(1, f"<code>&lt;{escape(self.name)}&gt;</code>")
        purpose = re.sub(r"^[\w/.]+: ", "", self.intro[0])
        self.prose([purpose[0].upper() + purpose[1:]] + self.intro[1:], document, intro=True)
        if self.includes:
            shown = ", ".join(self.link(i, f"<code>&lt;{i}&gt;</code>") for i in self.includes)
            document.add(f"<p>Includes {shown}.</p>")
        placed = set()
        for kind, words, code in self.chunks:
            if kind == "section":
                document.heading(2, escape(words[0][:1].upper() + words[0][1:]))
            else:
                self.declaration(document, words, code, placed)
        return document

    def declaration(self, document, words, code, placed):
        rows = error_rows(code)
        new = [s for s in names(code) if s not in placed]
        placed.update(new)
        heads = [s for s in new if not s.isupper()] or new
        if new and re.match(rf"#\s*define {new[0]}\b", code[0]) and new[0] not in heads:
            heads = [new[0]] + heads
        if heads:
            document.anchors.add(heads[0])
            document.parts.append([heads[0], ", ".join(heads)])
            document.headings.append((3, heads[0], f"<code>{escape(heads[0])}</code>"))
            shown = ", ".join(f"<code>{escape(h)}</code>" for h in heads[:4]) + (" …" if len(heads) > 4 else "")
            document.html.append(f'<section class="declaration"><h3 id="{escape(heads[0])}">{shown} '
                                 f'<a class="here" href="#{escape(heads[0])}" aria-label="link to this declaration">#</a></h3>')
        else:
            document.html.append('<section class="declaration">')
        others = "".join(f'<span id="{escape(s)}"></span>' for s in new if s not in heads[:1])
        document.html.append(others)
        if rows:
            document.add('<div class="scroll"><table><thead><tr><th>code</th><th>value</th><th>meaning</th></tr></thead><tbody>' +
                         "".join(f'<tr id="MEND_{n}"><td><code>MEND_{n}</code></td><td>{v}</td><td>{escape(t)}</td></tr>'
                                 for n, v, t in rows) + "</tbody></table></div>")
            document.parts += [["MEND_" + n, "MEND_" + n, t] for n, _, t in rows]
        else:
            document.add(self.code("\n".join(prototypes(code)).strip("\n")))
        self.prose(words, document)
        document.html.append("</section>")

    def code(self, text):
        if self.fortran:
            return code_block(text, "fortran")
        html = coloured(text, "c")

        def linked(match):
            where = self.links.code(match.group(0))
            return f'<a href="{escape(where)}">{match.group(0)}</a>' if where and "_" in match.group(0) else match.group(0)
        # names in declarations link to where they are declared; those in comments do, too
        return "<pre><code>" + re.sub(r"(?<![&\w])[A-Za-z_]\w{3,}(?![\w;])", linked, html) + "</code></pre>"

    def link(self, name, shown):
        where = self.links.code(name)
        return f'<a href="{escape(where)}">{shown}</a>' if where else shown

    def words(self, text):
        """A sentence of a comment: `code`, *emphasis*, and names that are declared somewhere."""
        out = []
        for piece in re.split(r"(`[^`]+`|(?<!\S)\*[a-z ]+\*(?!\w))", text):
            if piece.startswith("`") and len(piece) > 1:
                out.append(self.link(piece[1:-1], f"<code>{escape(piece[1:-1])}</code>"))
            elif re.fullmatch(r"\*[a-z ]+\*", piece):
                out.append(f"<em>{escape(piece[1:-1])}</em>")
            else:
                end = 0
                for m in WORD.finditer(piece):
                    if "_" in m.group(1) and self.links.code(m.group(1)):
                        out.append(escape(piece[end:m.start()]) + self.link(m.group(1), f"<code>{m.group(0)}</code>"))
                        end = m.end()
                out.append(escape(piece[end:]))
        return "".join(out)

    def prose(self, lines, document, intro=False):
        """Paragraphs, lists with a dash, examples and tables that are indented, titles in capitals."""
        i = 0
        while i < len(lines):
            line = lines[i]
            item = re.match(r" {0,2}- +", line)
            if not line.strip():
                i += 1
            elif intro and re.fullmatch(r"[A-Z]{4,}", line):
                document.heading(2, escape(line.capitalize()))
                i += 1
            elif item:
                html = ["<ul>"]
                while i < len(lines) and re.match(r" {0,2}- +", lines[i]):
                    margin = len(lines[i]) - len(lines[i].lstrip())
                    body = [lines[i].strip()[2:]]
                    i += 1
                    while i < len(lines) and len(lines[i]) - len(lines[i].lstrip()) > margin and lines[i].strip():
                        body.append(lines[i].strip())
                        i += 1
                    html.append(f"<li>{self.words(' '.join(body))}</li>")
                document.add("\n".join(html + ["</ul>"]))
            elif i == 0 and re.match(r"[a-z]\w* \**\w+\(.*[,)]$", line):  # how a macro is called
                body = []
                while i < len(lines) and lines[i].strip():
                    body.append(lines[i])
                    i += 1
                document.add(self.code("\n".join(body)))
            elif line.startswith("  "):
                body = []
                while i < len(lines) and (lines[i].startswith("  ") or not lines[i].strip()):
                    body.append(lines[i])
                    i += 1
                margin = min(len(b) - len(b.lstrip()) for b in body if b.strip())
                document.add(self.code("\n".join(b[margin:] for b in body).rstrip()))
            else:
                body = []
                while i < len(lines) and lines[i].strip() and not re.match(r" {0,2}- +|  ", lines[i]) and \
                        not (intro and re.fullmatch(r"[A-Z]{4,}", lines[i])):
                    body.append(lines[i])
                    i += 1
                label = re.match(r"([A-Z]{2,}(?: [A-Z]+)*)(?=\. | \()", body[0]) if intro else None
                if label:  # "DEATHS. A peer's …"
                    body[0] = body[0][label.end():]
                    document.add(f"<p><strong>{label.group(1).capitalize()}</strong>{self.words(' '.join(body))}</p>")
                    continue
                for part in re.split(r"(?<=[.)]) (?=(?:Errors?|Warning)[:,] )", " ".join(body)):
                    document.add(f"<p>{self.words(part)}</p>")


def comment(lines, i):
    """The words of the comment that begins at line i, and the line behind it."""
    body = []
    while True:
        line = lines[i]
        i += 1
        body.append(line.split("*/")[0].rstrip() if "*/" in line else line)
        if "*/" in line:
            break
    body[0] = body[0][3:]
    body[1:] = [re.sub(r"^ \* ?", "", line) for line in body[1:]]
    return [line.rstrip() for line in body], i


def chunks(lines):
    """(kind, words of the comment, lines of code), in order: what stands together belongs together."""
    found, i = [], 0
    while i < len(lines):
        line = lines[i]
        if SECTION.match(line):
            found.append(("section", [SECTION.match(line).group(1)], []))
            i += 1
        elif line.startswith("/*"):
            words, i = comment(lines, i)
            code, i = declarations(lines, i)
            if code and not (re.search(r"\b__\w+\(", code[0]) and not names(code)):  # what only macros call
                found.append(("code", words, code))
        elif not line.strip() or GUARD.match(line) or "MEND_API __attribute__" in line:
            i += 1
        else:
            if re.match(r"#\s*define \w+_H$", line):
                i += 1
                continue
            code, i = declarations(lines, i)
            found.append(("code", [], code))
    return found


def declarations(lines, i):
    """Lines of code up to an empty line or the next comment, both outside of braces."""
    code, depth, goes_on = [], 0, False
    while i < len(lines):
        line = lines[i]
        if depth == 0 and not goes_on:
            if not line.strip() or line.startswith("/*"):
                break
            if GUARD.match(line):
                i += 1
                continue
        code.append(line)
        bare = re.sub(r"/\*.*?\*/|\"[^\"]*\"", "", line)
        depth += bare.count("{") - bare.count("}")
        goes_on = line.endswith("\\")
        i += 1
    return code, i


def prototypes(code):
    """Without what only the compiler needs: bodies of inline functions, the mark of exported symbols."""
    text = "\n".join(line.rstrip() for line in code)
    text = re.sub(r"(?m)^(static inline [^{;]*?)\s*\n\{.*?^\}", r"\1;", text, flags=re.S)
    text = re.sub(r"\bMEND_API ", "", text)
    text = re.sub(r"(?m)^extern [^;]*\b__\w+[^;]*;\n?", "", text)
    text = re.sub(r"(?m)^#define MEND_(?:FENIX|FTI)_(?:.*\\\n)*.*\n?", "", text)  # steps of other macros
    text = re.sub(r"(?m)^(#define \w+(?:\([^)]*\))?) .*\\\n(?:.*\\\n)*.*$", r"\1 …", text)  # how a long macro does it
    return aligned(text).split("\n")


def aligned(text):
    """Arguments on further lines stood under the parenthesis before MEND_API was cut off; put them there again."""
    out, column = [], None
    for line in text.split("\n"):
        if column and line.startswith("     ") and out and not out[-1].endswith(";"):
            line = " " * column + line.lstrip()
        elif re.match(r"[a-z].*\([^)]*$", line):
            column = line.index("(") + 1
        else:
            column = None
        out.append(line)
    return "\n".join(out)


def names(code):
    """What these lines declare, in order."""
    text = re.sub(r"/\*.*?\*/", "", "\n".join(code), flags=re.S)
    found = []
    for pattern in (r"(?m)^#\s*define ([A-Za-z]\w+)",
                    r"(?m)^(?:MEND_API |static inline |extern )*[A-Za-z][\w ]*?[\s*]+([A-Za-z]\w+)\(",
                    r"(?m)^typedef [^({;]*?\b(\w+);", r"(?m)^typedef [^(;{]*?\b(\w+)\([^*]",
                    r"(?m)^\} (\w+);", r"(?m)^typedef enum[ \w]*\{[^}\n]*\} (\w+);", r"(?m)^(?:struct|enum) (\w+) \{", r"(?m)^extern \w+ (\w+);"):
        found += re.findall(pattern, text)
    for body in re.findall(r"(?m)^(?:typedef )?enum[ \w]*\{([^}]*)\}", text):
        found += re.findall(r"(?:^|,)\s*([A-Z]\w+)", body)
    found = [n for n in dict.fromkeys(found) if not n.startswith(("MEND_FENIX_", "MEND_FTI_", "__"))]
    return sorted(found, key=lambda n: re.search(rf"\b{n}\b", text).start())


def error_rows(code):
    if not any("MEND_ERROR_TABLE(X)" in line for line in code):
        return []
    return re.findall(r'X\((\w+), (-?\d+), "([^"]*)"\)', "\n".join(code))
