"""Manual pages, written for scdoc, as HTML."""
import re

from prose import Document, code_block, escape


class Manual:
    """scdoc's language as far as our pages use it: sections, paragraphs, *bold*, _underlined_, ++, terms with an indented
    text, lists with -, literal blocks between fences."""

    def __init__(self, text, links):
        self.links = links
        lines = text.split("\n")
        head = re.match(r"([\w.-]+)\((\d)\)", lines[0])
        if not head:
            raise ValueError(f"not the first line of a manual page: {lines[0]}")
        self.name, self.section = head.groups()
        self.document = Document()
        self.document.heading(1, escape(f"{self.name}({self.section})"))
        self.purpose = ""
        self.terms = {}  # options, variables and keys with their anchors
        self.blocks(lines[1:])

    def blocks(self, lines):
        add, i, terms = self.document.add, 0, False
        while i < len(lines):
            line = lines[i]
            if not line.strip():
                i += 1
                continue
            block = []
            if line.lstrip("\t").startswith("```"):
                i += 1
                while not lines[i].lstrip("\t").startswith("```"):
                    block.append(lines[i])
                    i += 1
                i += 1
                html = code_block("\n".join(block), "plain")
            elif line.startswith("#"):
                mark, _, title = line.partition(" ")
                if title == "NAME":  # the title has the one, the line below it the other
                    i += 1
                    while not lines[i].startswith("#"):
                        self.purpose = lines[i].partition(" - ")[2] or self.purpose
                        i += 1
                    continue
                if terms:
                    add("</dl>")
                    terms = False
                self.document.heading(len(mark) + 1, escape(title.capitalize() if re.match("[A-Z]{2}", title) else title))
                i += 1
                continue
            elif line.startswith("- "):
                i, html = self.list(lines, i)
            elif line.startswith("\t"):  # an indented paragraph of its own: an example
                while i < len(lines) and lines[i].startswith("\t"):
                    block.append(lines[i].strip())
                    i += 1
                html = f'<p class="example">{self.inline(block)}</p>'
            else:
                while i < len(lines) and lines[i].strip() and not lines[i].startswith(("\t", "#", "- ", "```")):
                    block.append(lines[i])
                    i += 1
                if i < len(lines) and lines[i].startswith("\t"):
                    i, html = self.term(block, lines, i)
                    if not terms:
                        html = "<dl>" + html
                        terms = True
                    add(html)
                    continue
                html = f"<p>{self.inline(block)}</p>"
            if terms:
                html = "</dl>" + html
                terms = False
            add(html)
        if terms:
            add("</dl>")

    def term(self, term, lines, i):
        body = []
        while i < len(lines) and (lines[i].startswith("\t") or (body and body[-1].endswith("++"))):
            body.append(lines[i].strip())
            i += 1
        text = self.inline(term)
        option = re.search(r"\*(-{1,2}[a-z][\w-]*)\*|^\*([\w.\\]+)\*", term[0])
        name = ""
        if option:
            word = unescape(option.group(1) or option.group(2)).lstrip("-")
            section = re.fullmatch(r"Section \[([a-z]+)\]", self.document.headings[-1][2])
            word = f"{section.group(1)}.{word}" if section else word  # a key of the configuration, as the guide writes it
            anchor = self.document.anchor(word)
            self.terms[word] = anchor
            variable = re.search(r"Variable: \*(\S+)\*", body[-1])
            if variable:
                self.terms[unescape(variable.group(1))] = anchor
            self.document.parts.append([anchor, word])
            name = f' id="{escape(anchor)}"'
        return i, f"<dt{name}>{text}</dt><dd>{self.inline(body)}</dd>"

    def list(self, lines, i):
        html = ["<ul>"]
        while i < len(lines) and lines[i].startswith("- "):
            item = [lines[i][2:]]
            i += 1
            while i < len(lines) and lines[i].startswith("  "):
                item.append(lines[i].strip())
                i += 1
            html.append(f"<li>{self.inline(item)}</li>")
        return i, "\n".join(html + ["</ul>"])

    INLINE = re.compile(r"\\(?P<sign>.)"
                        r"|\*(?P<page>mend[\w.-]*)\*(?P<number>\(\d\))"
                        r"|(?<![\w])\*(?P<bold>(?:\\.|[^*\\])+)\*"
                        r"|(?<![\w])_(?P<under>(?:\\.|[^_\\])+)_(?![\w])"
                        r"|(?P<line>\+\+(?=\n|$))")

    def inline(self, lines):
        text, out, end = "\n".join(lines), [], 0
        for m in self.INLINE.finditer(text):
            out.append(escape(text[end:m.start()]))
            end = m.end()
            if m["sign"]:
                out.append(escape(m["sign"]))
            elif m["page"]:
                where, shown = self.links.code(m["page"] + m["number"]), escape(m["page"] + m["number"])
                out.append(f'<a href="{escape(where)}">{shown}</a>' if where else shown)
            elif m["bold"]:
                word = unescape(m["bold"])
                where = self.links.code(word)
                out.append(f'<a href="{escape(where)}"><b>{escape(word)}</b></a>' if where else f"<b>{escape(word)}</b>")
            elif m["under"]:
                out.append(f'<var>{escape(unescape(m["under"]))}</var>')
            else:
                out.append("<br/>")
        return "".join(out) + escape(text[end:])


def unescape(text):
    return re.sub(r"\\(.)", r"\1", text)
