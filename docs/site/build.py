#!/usr/bin/env python3
"""Builds the site: the guide, the manual pages and the public headers, as HTML that needs no network to be read.

usage: build.py FOLDER          writes the site there; what an earlier build left is replaced
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from contents import CONTENTS, LIMITS
from header import Header
from manual import Manual
from page import Page, navigation
from prose import Document, Markdown, escape

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def listed(folder, suffix):
    return sorted(f for f in os.listdir(os.path.join(ROOT, folder)) if f.endswith(suffix))


class Links:
    """Where a link, a picture or a name in the text of one page leads on the site."""

    def __init__(self, site, page, folder):
        self.site, self.page, self.folder = site, page, folder

    def target(self, href):
        if re.match(r"https?:", href):
            return href
        path, _, anchor = href.partition("#")
        if not path:
            return href
        anchor = "#" + anchor if anchor else ""
        if path.endswith(".md"):
            name = self.site.guide_name(os.path.basename(path))
            if name not in self.site.guide:
                raise ValueError(f"{self.page}: no such page: {href}")
            return name + ".html" + anchor
        return self.image(path)

    def image(self, path):
        return self.site.copy(os.path.normpath(os.path.join(self.folder, path)))

    def title(self, text):
        return self.site.short.get(self.site.guide_name(text)) if text.endswith(".md") else None

    def code(self, text):
        word = re.sub(r"\(\)$|=.*$", "", text)
        command = re.match(r"mend ([a-z]+)\b", text)
        where = self.site.names.get(word) or (command and self.site.names.get("mend " + command.group(1)))
        return where if where and where != self.page + ".html" else None


class Site:
    def __init__(self, out):
        self.out = out
        self.guide = {self.guide_name(f): read("docs/guide/" + f) for f in listed("docs/guide", ".md")}
        self.short = {page: name for _, _, entries in reversed(CONTENTS) for page, name, _ in entries if "#" not in page}
        self.headers = [Header("mend/" + f, read("include/mend/" + f)) for f in listed("include/mend", ".h")]
        self.headers += [Header(f, read("include/compat/" + f)) for f in listed("include/compat", ".h")]
        self.names = {}
        for header in self.headers:
            page = self.header_page(header) + ".html"
            self.names[header.name] = self.names[f"<{header.name}>"] = page
            for name, anchor in header.names.items():
                if not name.startswith("MPI_"):  # flow.h defines some; elsewhere they mean MPI's
                    self.names.setdefault(name, f"{page}#{anchor}")
        self.manual_text = [read("docs/man/" + f) for f in listed("docs/man", ".scd")] + [self.configuration()]
        for text in self.manual_text:
            name, section = re.match(r"([\w.-]+)\((\d)\)", text).groups()
            self.names[f"{name}({section})"] = f"{name}.{section}.html"
            if section == "1":
                self.names[name.replace("mend-", "mend ")] = f"{name}.{section}.html"
        self.names["mend.conf"] = "mend.conf.5.html"
        for manual in [self.manual(text) for text in self.manual_text if text.startswith("mend.conf(")]:
            for word, anchor in manual.terms.items():
                self.names.setdefault(word, f"mend.conf.5.html#{anchor}")
        self.pages = {}

    @staticmethod
    def guide_name(file):
        return "guide" if file == "README.md" else file.removesuffix(".md")

    @staticmethod
    def header_page(header):
        return "api-" + header.name.removeprefix("mend/").removesuffix(".h")

    @staticmethod
    def configuration():
        """mend.conf(5) comes from the table of keys by a small program, as in the installed manual."""
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "config_manual")
            subprocess.run([os.environ.get("CC", "cc"), "-I", os.path.join(ROOT, "src/base/include"), "-o", program,
                            os.path.join(ROOT, "tools/manual/config_manual.c")], check=True)
            return subprocess.run([program], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout

    def copy(self, path):
        """A picture or an example that a page shows; path is from the root of the source."""
        name = os.path.basename(path)
        shutil.copyfile(os.path.join(ROOT, path), os.path.join(self.out, name))
        return name

    def manual(self, text):
        name, section = re.match(r"([\w.-]+)\((\d)\)", text).groups()
        return Manual(text, Links(self, f"{name}.{section}", "docs/man"))

    # ---- the pages ----

    def add(self, name, document, about=""):
        self.pages[name] = Page(name, document, about)

    def add_guide(self):
        for name, text in self.guide.items():
            self.add(name, Markdown(text, Links(self, name, "docs/guide")).document)
            if name not in self.short:
                self.short[name] = self.pages[name].document.title

    def add_manuals(self):
        overview = Document()
        overview.heading(1, "Commands")
        overview.add("<p>Every command of Mend has a manual page (<code>man mend</code> once installed) and "
                     "<code>--help</code>.</p>")
        rows = []
        for text in self.manual_text:
            manual = self.manual(text)
            page = f"{manual.name}.{manual.section}"
            self.short.setdefault(page, manual.document.title)
            self.add(page, manual.document, manual.purpose)
            rows.append(f'<tr><td><a href="{page}.html">{escape(manual.document.title)}</a></td>'
                        f"<td>{escape(manual.purpose)}</td></tr>")
        overview.add("<table><tbody>" + "".join(rows) + "</tbody></table>")
        self.add("commands", overview)

    def add_headers(self):
        overview = Document()
        overview.heading(1, "API reference")
        overview.add("<p>There is one header per layer. For each function it says which ranks must call it together, whether the result "
                     "is agreed, what happens when a peer dies inside the call, and which errors it returns.</p>")
        rows = {"mend": [], "compat": []}
        for header in self.headers:
            page = self.header_page(header)
            document = header.html(Links(self, page, "include"))
            about = re.sub(r"^[\w/. ]+: ", "", " ".join(header.intro).split(". ")[0]).rstrip(".")
            self.short.setdefault(page, f"<{header.name}>")
            self.add(page, document, about)
            rows["mend" if header.name.startswith("mend/") else "compat"].append(
                f'<tr><td><a href="{page}.html"><code>&lt;{escape(header.name)}&gt;</code></a></td><td>{escape(about)}</td></tr>')
        for title, kind in (("Mend's layers", "mend"), ("Interfaces of other systems", "compat")):
            overview.heading(2, escape(title))
            overview.add("<table><tbody>" + "".join(rows[kind]) + "</tbody></table>")
        overview.heading(2, "Every name")
        names = sorted({n for h in self.headers for n in h.names if not n.isupper() and n in self.names}, key=str.lower)
        overview.html.append('<ul class="names">' + "".join(
            f'<li><a href="{escape(self.names[n])}"><code>{escape(n)}</code></a></li>' for n in names) + "</ul>")
        self.add("api", overview)

    def add_limits(self):
        """Every section about limits, from the pages that it stands on."""
        limits = Document()
        limits.heading(1, "Limits")
        limits.add("<p>This page collects the limits and known problems of each part of Mend from the pages of the guide. "
                   '<a href="promises.html">What Mend promises</a> lists the promises.</p>')
        order = [page for _, _, entries in CONTENTS for page, _, _ in entries if page in self.guide]
        for name in dict.fromkeys(order + list(self.guide)):
            for title, text in re.findall(r"(?ms)^## ([^\n]*)\n(.*?)(?=^## |\Z)", self.guide[name]):
                if title not in LIMITS:
                    continue
                part = Markdown(text, Links(self, "limits", "docs/guide")).document
                limits.heading(2, f"{escape(self.short[name])}: {escape(title[0].lower() + title[1:])}"
                               if title != "Limits" else escape(self.short[name]))
                limits.html += part.html
                limits.parts[-1] += [w for p in part.parts for w in p[2:]]
                limits.add(f'<p class="source">From <a href="{name}.html">{escape(self.pages[name].document.title)}</a>.</p>')
        self.add("limits", limits)

    def add_home(self):
        home = Document()
        home.heading(1, "Mend keeps MPI jobs alive")
        home.add("<p class=\"lead\">Processes, nodes and disks die; the job repairs itself, rolls back a little, and ends with the "
                 "output that it would have had. Nothing is relaunched.</p>")
        home.add("<pre><code>mend run -n 4 --spares 1 -- ./app   <i># your program, unmodified; now kill -9 a rank</i></code></pre>")
        home.html.append('<div class="cards">')
        for title, about, entries in self.groups():
            rows = "".join(f'<li><a href="{self.url(page)}">{escape(name)}</a> <span>{escape(line)}</span></li>'
                           for page, name, line in entries)
            home.html.append(f"<section><h2>{escape(title)}</h2><p>{escape(about)}</p><ul>{rows}</ul></section>")
        home.html.append("</div>")
        self.add("index", home)

    def url(self, page):
        path, _, anchor = page.partition("#")
        return path + ".html" + ("#" + anchor if anchor else "")

    def groups(self):
        """The contents, with what they do not name; manual pages and headers are listed under Reference."""
        named = {page for _, _, entries in CONTENTS for page, _, _ in entries}
        more = [(name, self.short[name], "") for name in self.guide if name not in named]
        return CONTENTS + ([("More", "Further pages of the guide.", more)] if more else [])

    def menu(self):
        """The groups again, with every manual page and header where the contents have their overview."""
        for title, about, entries in self.groups():
            full = []
            for page, name, line in entries:
                full.append((page, name, 0))
                if page == "commands":
                    full += [(p, self.short[p] if "(" in self.short[p] else f"{p[:-2]}({p[-1]})", 1)
                             for p in self.pages if re.search(r"\.[157]$", p)]
                if page == "api":
                    full += [(self.header_page(h), f"<{h.name}>", 1) for h in self.headers]
            yield title, full

    # ---- the files ----

    def write(self):
        os.makedirs(self.out, exist_ok=True)
        for old in os.listdir(self.out):
            if re.search(r"\.(html|js|css|svg|ini)$", old):
                os.remove(os.path.join(self.out, old))
        self.add_guide()
        self.add_manuals()
        self.add_headers()
        self.add_limits()
        self.add_home()
        version = ".".join(re.findall(r"#define MEND_VERSION_(?:MAJOR|MINOR|PATCH) +(\d+)", read("include/mend/version.h")))
        menu = list(self.menu())
        for page in [p.partition("#")[0] for _, entries in menu for p, _, _ in entries]:
            if page not in self.pages:
                raise ValueError(f"docs/site/contents.py names {page}, and there is no such page")
        order = list({page: (page, name) for _, entries in menu for page, name, _ in entries if "#" not in page}.values())
        place = {page: i for i, (page, _) in enumerate(order)}
        for name, page in self.pages.items():
            i = place.get(name)
            near = (None, None) if i is None else (order[i - 1] if i else None, order[i + 1] if i + 1 < len(order) else None)
            self.file(name + ".html", page.html(navigation(menu, name), version, near))
        for name in ("style.css", "icon.svg"):
            self.file(name, read("docs/site/" + name))
        self.file("search.js", self.search())
        return len(self.pages)

    def search(self):
        """The program and what it searches, in one file: a page opened from a disk may load nothing else."""
        index = []
        for name, page in self.pages.items():
            if name in ("limits", "guide", "index"):
                continue  # they repeat others
            for part in page.document.parts:
                anchor, title, words = part[0], part[1], " ".join(part[2:])
                index.append([name + ".html" + ("#" + anchor if anchor else ""), self.short.get(name, page.document.title),
                              title, " ".join(words.split())])
        rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in index)
        return read("docs/site/search.js").replace("/* INDEX */", "\n" + rows + "\n")

    def file(self, name, text):
        with open(os.path.join(self.out, name), "w", encoding="utf-8") as file:
            file.write(text)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    os.makedirs(sys.argv[1], exist_ok=True)
    site = Site(os.path.abspath(sys.argv[1]))
    count = site.write()
    print(f"{sys.argv[1]}/index.html: {count} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
