"""The part of Markdown that the guide uses, as HTML that is also well-formed XML.

Headings, paragraphs, lists (with paragraphs, code and lists inside), tables, fenced and indented code, links,
images, code spans, strong and emphasised text, comments. What else Markdown knows is not known here: a line that looks like
it is an error, not a guess.
"""
import re


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def plain(markup):
    """The words of a piece of HTML, for titles and for the search."""
    text = re.sub(r"<[^>]*>", "", markup)
    for entity, sign in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        text = text.replace(entity, sign)
    return " ".join(text.split())


def slug(title):
    """The anchor of a heading, by the rule that forges use for Markdown: links written for them work here."""
    kept = re.sub(r"[^\w\- ]", "", plain(title).lower())
    return kept.strip().replace(" ", "-")


class Document:
    """A converted page: its title, its HTML without the title, its headings and its parts for the search."""

    def __init__(self):
        self.title = ""
        self.html = []
        self.headings = []  # (level, anchor, HTML)
        self.parts = []     # [anchor, heading, words...]: what the search finds
        self.anchors = set()

    def anchor(self, name):
        free, n = name, 0
        while free in self.anchors:
            n += 1
            free = f"{name}-{n}"
        self.anchors.add(free)
        return free

    def heading(self, level, markup):
        if level == 1 and not self.title:
            self.title = plain(markup)
            self.parts.append(["", self.title])
            self.title_html = markup
            return
        name = self.anchor(slug(markup))
        self.headings.append((level, name, markup))
        self.parts.append([name, plain(markup)])
        self.html.append(f'<h{level} id="{escape(name)}">{markup} '
                         f'<a class="here" href="#{escape(name)}" aria-label="link to this section">#</a></h{level}>')

    def add(self, markup):
        self.html.append(markup)
        if not self.parts:
            self.parts.append(["", ""])
        self.parts[-1].append(plain(markup.replace("<", " <")))


class Markdown:
    ITEM = re.compile(r"( *)([*-]|\d+\.) +(.*)")
    FENCE = re.compile(r" *```(.*)")
    RULE = re.compile(r"\|[-:| ]+\|?$")
    NAMED = re.compile(r"\*\*([\w.]+)\*\*:")  # "**store.save**: …" at the start of a paragraph can be linked to

    def __init__(self, text, links):
        self.links = links  # target(href) and code(text): where links and names in code lead; None: nowhere
        self.document = Document()
        self.blocks(text.split("\n"), self.document.add, top=True)

    # ---- blocks: each takes lines from position i and returns the position behind it ----

    def blocks(self, lines, out, top=False):
        i = 0
        while i < len(lines):
            line = lines[i]
            if not line.strip():
                i += 1
            elif line.startswith("<!--"):
                while "-->" not in lines[i]:
                    i += 1
                i += 1
            elif self.FENCE.match(line):
                i = self.fence(lines, i, out)
            elif line.startswith("    "):
                i = self.indented(lines, i, out)
            elif top and line.startswith("#"):
                mark, _, title = line.partition(" ")
                self.document.heading(len(mark), self.inline(title))
                i += 1
            elif line.startswith("|"):
                i = self.table(lines, i, out)
            elif self.ITEM.match(line):
                i = self.items(lines, i, out)
            elif line[0] in "<>" or re.fullmatch(r"(=+|-{3,}|\*{3,})", line):
                raise ValueError(f"this Markdown is not known here: {line}")
            else:
                i = self.paragraph(lines, i, out)

    def fence(self, lines, i, out):
        indent = len(lines[i]) - len(lines[i].lstrip())
        language = self.FENCE.match(lines[i]).group(1).strip()
        body = []
        i += 1
        while not self.FENCE.match(lines[i]):
            body.append(lines[i][indent:])
            i += 1
        out(code_block("\n".join(body), language))
        return i + 1

    def indented(self, lines, i, out):
        body = []
        while i < len(lines) and (lines[i].startswith("    ") or not lines[i].strip()):
            body.append(lines[i][4:])
            i += 1
        out(code_block("\n".join(body).rstrip(), ""))
        return i

    def table(self, lines, i, out):
        rows = []
        while i < len(lines) and lines[i].startswith("|"):
            rows.append(lines[i])
            i += 1
        if len(rows) < 2 or not self.RULE.match(rows[1]):
            raise ValueError(f"a table without its second line: {rows[0]}")
        head = cells(rows[0])
        html = ['<div class="scroll"><table>']
        if any(head):
            html.append("<thead><tr>" + "".join(f"<th>{self.inline(c)}</th>" for c in head) + "</tr></thead>")
        html.append("<tbody>")
        for row in rows[2:]:
            found = cells(row)
            if len(found) != len(head):
                raise ValueError(f"a row of {len(found)} cells in a table of {len(head)}: {row}")
            html.append("<tr>" + "".join(f"<td>{self.inline(c)}</td>" for c in found) + "</tr>")
        html.append("</tbody></table></div>")
        out("\n".join(html))
        return i

    def items(self, lines, i, out):
        first = self.ITEM.match(lines[i])
        margin, ordered = len(first.group(1)), first.group(2)[0].isdigit()
        html = ["<ol>" if ordered else "<ul>"]
        while i < len(lines):
            match = self.ITEM.match(lines[i])
            if not match or len(match.group(1)) != margin or match.group(2)[0].isdigit() != ordered:
                break
            inside = len(match.group(0)) - len(match.group(3))
            body = [match.group(3)]
            i += 1
            while i < len(lines):
                line = lines[i]
                deeper = len(line) - len(line.lstrip()) >= min(inside, margin + 2)
                if line.strip() and not deeper:
                    break
                if not line.strip() and not self.goes_on(lines, i, margin):
                    break
                body.append(line[min(inside, len(line) - len(line.lstrip())):])
                i += 1
            html.append("<li>" + self.item(body) + "</li>")
            while i < len(lines) and not lines[i].strip() and self.another(lines, i, margin, ordered):
                i += 1
        html.append("</ol>" if ordered else "</ul>")
        out("\n".join(html))
        return i

    @staticmethod
    def next_line(lines, i):
        while i < len(lines) and not lines[i].strip():
            i += 1
        return lines[i] if i < len(lines) else ""

    def goes_on(self, lines, i, margin):
        line = self.next_line(lines, i)
        return len(line) - len(line.lstrip()) >= margin + 2

    def another(self, lines, i, margin, ordered):
        match = self.ITEM.match(self.next_line(lines, i))
        return match and len(match.group(1)) == margin and match.group(2)[0].isdigit() == ordered

    def item(self, body):
        inner = []
        self.blocks(body, inner.append)
        if inner and inner[0].startswith("<p>"):  # the first paragraph of an item stands in its line
            inner[0] = inner[0][3:-4]
        return "\n".join(inner)

    def paragraph(self, lines, i, out):
        body = [lines[i]]
        i += 1
        while i < len(lines) and lines[i].strip() and not self.starts_other(lines[i]):
            body.append(lines[i])
            i += 1
        text = "\n".join(body)
        named = self.NAMED.match(text)
        if named:
            name = self.document.anchor(named.group(1))
            self.document.parts.append([name, named.group(1)])
            out(f'<p id="{escape(name)}" class="named">{self.inline(text)}</p>')
        else:
            out(f"<p>{self.inline(text)}</p>")
        return i

    def starts_other(self, line):
        return line.startswith(("|", "#", "```")) or (self.ITEM.match(line) and not line.startswith(" ") and
                                                      not re.match(r"(?!1\.)\d+\.", line))

    # ---- inside a paragraph ----

    INLINE = re.compile(r"(?P<ticks>`+)(?P<code>.+?)(?P=ticks)(?!`)"
                        r"|!\[(?P<alt>[^\]]*)\]\((?P<image>[^)\s]+)\)"
                        r"|\[(?P<label>[^\]]+)\]\((?P<href>[^)\s]+)\)"
                        r"|\*\*(?P<strong>\S(?:.*?\S)?)\*\*"
                        r"|(?<![\w*])\*(?P<emphasis>[^\s*](?:[^*]*?[^\s*])?)\*(?![\w*])"
                        r"|\\(?P<sign>[\\`*_{}\[\]()#+.!|-])"
                        r"|(?P<manual>\bmend(?:-[a-z]+|\.conf)?\([157]\))", re.S)

    def inline(self, text):
        out, end = [], 0
        for m in self.INLINE.finditer(text):
            out.append(escape(text[end:m.start()]))
            end = m.end()
            if m["code"] is not None:
                out.append(self.code(m["code"].strip() if m["code"].strip() else m["code"]))
            elif m["image"]:
                out.append(f'<img src="{escape(self.links.image(m["image"]))}" alt="{escape(m["alt"])}" loading="lazy"/>')
            elif m["href"]:
                out.append(f'<a href="{escape(self.links.target(m["href"]))}">{self.label(m["label"])}</a>')
            elif m["strong"]:
                out.append(f'<strong>{self.inline(m["strong"])}</strong>')
            elif m["emphasis"]:
                out.append(f'<em>{self.inline(m["emphasis"])}</em>')
            elif m["manual"]:
                out.append(self.code(m["manual"], tag=False))
            else:
                out.append(escape(m["sign"]))
        out.append(escape(text[end:]))
        return "".join(out)

    def label(self, text):
        """A label that is a file's name reads better as the title of that page."""
        links, self.links = self.links, NoLinks()
        html = self.inline(links.title(text) or text)
        self.links = links
        return html

    def code(self, text, tag=True):
        html = f"<code>{escape(text)}</code>" if tag else escape(text)
        where = self.links.code(text)
        return f'<a href="{escape(where)}">{html}</a>' if where else html


class NoLinks:
    @staticmethod
    def code(_):
        return None


def cells(row):
    """The cells of a row; \\| inside a cell, and | inside a code span, are no borders."""
    row = row.strip()[1:]
    row = row[:-1] if row.endswith("|") and not row.endswith("\\|") else row
    found, ticks = [""], False
    for sign, before in zip(row, " " + row):
        ticks ^= sign == "`"
        if sign == "|" and before == "\\":
            found[-1] = found[-1][:-1] + "|"
        elif sign == "|" and not ticks:
            found.append("")
        else:
            found[-1] += sign
    return [cell.strip() for cell in found]


def code_block(text, language):
    return f'<pre><code>{coloured(text, language)}</code></pre>'


COMMENT = {
    "c": re.compile(r"/\*.*?\*/|//[^\n]*", re.S),
    "fortran": re.compile(r"![^\n]*"),
    "": re.compile(r"(?m)(?:^|(?<=\s{2})|(?<=\s))# [^\n]*"),
}


def coloured(text, language):
    """Comments are set apart; everything else is left as it is."""
    pattern = COMMENT.get(language, COMMENT[""] if language in ("", "sh", "bash", "console") else None)
    if not pattern:
        return escape(text)
    out, end = [], 0
    for m in pattern.finditer(text):
        out.append(escape(text[end:m.start()]) + f'<i>{escape(m.group(0))}</i>')
        end = m.end()
    return "".join(out) + escape(text[end:])
