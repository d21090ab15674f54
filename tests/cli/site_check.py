"""site_check.py SITE SOURCE: looks at a built site; one line for each thing that is wrong, 1 if there is any."""
import json
import os
import re
import sys
import xml.etree.ElementTree as ET

LOADS = {"img": "src", "script": "src", "link": "href", "iframe": "src", "object": "data", "source": "src", "embed": "src", "use": "href"}


class Check:
    def __init__(self, site, source):
        self.site, self.source = site, source
        self.wrong, self.ids, self.trees = 0, {}, {}
        self.files = set(os.listdir(site))

    def complain(self, text):
        print("FAIL:", text)
        self.wrong += 1

    def read(self, name, root=None):
        with open(os.path.join(root or self.site, name), encoding="utf-8") as file:
            return file.read()

    def pages(self):
        """Well-formed as XML, which is more than HTML asks for; one title, one h1, every id once."""
        for name in sorted(f for f in self.files if f.endswith(".html")):
            text = self.read(name)
            try:
                tree = ET.fromstring(text.removeprefix("<!DOCTYPE html>"))
            except ET.ParseError as error:
                self.complain(f"{name} is not well-formed: {error}")
                continue
            self.trees[name] = tree
            ids = [e.get("id") for e in tree.iter() if e.get("id") is not None]
            for twice in sorted({i for i in ids if ids.count(i) > 1}):
                self.complain(f"{name}: two elements with the id {twice}")
            self.ids[name] = set(ids)
            if not (tree.findtext("head/title") or "").strip() or len(list(tree.iter("h1"))) != 1:
                self.complain(f"{name}: not one title and one h1")
            for paragraph in tree.iter("p"):
                if any(child.tag in ("p", "ul", "ol", "dl", "table", "pre", "div") for child in paragraph):
                    self.complain(f"{name}: a block inside a paragraph: {ET.tostring(paragraph, 'unicode')[:80]}")

    def links(self):
        count = 0
        for name, tree in self.trees.items():
            for element in tree.iter():
                href = element.get("href") if element.tag == "a" else None
                if href is None or re.match(r"https?://", href):
                    continue
                count += 1
                path, _, anchor = href.partition("#")
                path = path or name
                if path not in self.files:
                    self.complain(f"{name}: {href}: no such file")
                elif anchor and anchor not in self.ids.get(path, ()):
                    self.complain(f"{name}: {href}: no such anchor")
            for label in tree.iter("label"):
                if label.get("for") not in self.ids[name]:
                    self.complain(f"{name}: a label for nothing")
        return count

    def resources(self):
        """Whatever a page loads by itself is a file beside it."""
        for name, tree in self.trees.items():
            for element in tree.iter():
                load = element.get(LOADS.get(element.tag, ""))
                if load is not None and load not in self.files:
                    self.complain(f"{name}: loads {load}, which is not a file of the site")
                if element.tag == "style" or element.get("style") or any(k.startswith("on") for k in element.keys()):
                    self.complain(f"{name}: style or code inside <{element.tag}>")
                if element.tag == "script" and (element.text or "").strip():
                    self.complain(f"{name}: a script inside the page")
        if re.search(r"@import|url\(", self.read("style.css")):
            self.complain("style.css loads something")
        code = self.read("search.js").split("const MEND_INDEX")
        code = code[0] + code[1].split("\n];", 1)[-1]
        for word in ("fetch(", "XMLHttpRequest", "import(", "http:", "https:", "WebSocket", "eval(", "innerHTML"):
            if word in code:
                self.complain(f"search.js has {word}")
        for picture in (f for f in self.files if f.endswith(".svg")):
            if re.search(r'(href|src)="[^#"]|<script|url\((?!#)', self.read(picture)):
                self.complain(f"{picture} loads something")

    def complete(self):
        """Every page of the guide, manual page, header, and every function that a header declares."""
        wanted = {}
        for name in os.listdir(os.path.join(self.source, "docs/guide")):
            if name.endswith(".md"):
                wanted["guide.html" if name == "README.md" else name[:-3] + ".html"] = name
        for name in os.listdir(os.path.join(self.source, "docs/man")):
            wanted[name.replace(".scd", ".html")] = name
        for folder in ("mend", "compat"):
            for name in (n for n in os.listdir(os.path.join(self.source, "include", folder)) if n.endswith(".h")):
                page = f"api-{name[:-2]}.html"
                wanted[page] = name
                text = re.sub(r"/\*.*?\*/", "", self.read(name, os.path.join(self.source, "include", folder)), flags=re.S)
                for function in re.findall(r"\b((?:mend|VELOC|FTI|SCR|Fenix)_\w+)\([^;{}]*\)\s*(?:__attribute__[^;]*)?;", text):
                    if page in self.ids and function not in self.ids[page] and f"return {function}(" not in text:
                        self.complain(f"{page} has no {function}")
        start = {a.get("href").partition("#")[0] for a in self.trees["index.html"].iter("a")}
        menu = {a.get("href").partition("#")[0] for n in self.trees["index.html"].iter("nav") for a in n.iter("a")}
        for page, origin in sorted(wanted.items()):
            if page not in self.trees:
                self.complain(f"{origin} is not in the site")
            elif page not in menu:
                self.complain(f"{page} is not in the menu")
        for page in ("quick-start", "which-layer", "online", "compat", "slurm", "how-often-should-i-checkpoint", "promises", "file-format",
                     "limits", "api"):
            if page + ".html" not in start:
                self.complain(f"the first page does not lead to {page}")
        return len(wanted)

    def words(self):
        """No word of the sources is lost on the way: those of each guide page's text are on its page."""
        for name in os.listdir(os.path.join(self.source, "docs/guide")):
            page = "guide.html" if name == "README.md" else name[:-3] + ".html"
            if not name.endswith(".md") or page not in self.trees:
                continue
            tree = ET.fromstring(re.sub(r"</(t[dh]|li|p)>", r" </\1>", self.read(page).removeprefix("<!DOCTYPE html>")))
            shown = set(re.findall(r"\w{3,}", "".join(tree.find("body").itertext())))
            text = re.sub(r"(?s)<!--.*?-->|\]\([^)]*\)|\[[\w-]+\.md", " ", self.read(name, os.path.join(self.source, "docs/guide")))
            text = re.sub(r"(?m)^\s*```\w*$", "", text)
            lost = sorted(set(re.findall(r"\w{3,}", text)) - shown)
            if lost:
                self.complain(f"{page} lacks words of {name}: {' '.join(lost[:8])}")

    def index(self):
        text = self.read("search.js")
        rows = json.loads("[" + text.split("const MEND_INDEX = [", 1)[1].split("\n];", 1)[0] + "]")
        for row in rows:
            path, _, anchor = row[0].partition("#")
            if len(row) != 4 or path not in self.files or (anchor and anchor not in self.ids.get(path, ())):
                self.complain(f"the search leads to {row[0]}, which is not there")
        for word, page in (("ulfm", "process.html"), ("preemption", "slurm.html"), ("mend_store_rebind", "api-store.html"),
                           ("weibull", "mend-plan.1.html"), ("MENDIMG", "file-format.html"), ("erasure", "store.html"),
                           ("store.save", "events.html"), ("MEND_ERR_NO_SPARES", "api-error.html"),
                           ("MEND_PROCESS_WATCHDOG", "mend.conf.5.html")):
            if not any(word.lower() in " ".join(row[1:]).lower() and row[0].startswith(page) for row in rows):
                self.complain(f"the search index does not find {word} on {page}")
        return len(rows)


def main():
    check = Check(*sys.argv[1:3])
    check.pages()
    links = check.links()
    check.resources()
    sources = check.complete()
    check.words()
    rows = check.index()
    print(f"{len(check.trees)} pages of {sources} sources, {links} links inside, {rows} sections to search")
    return 1 if check.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
