"""The frame around every page."""
import re

from prose import escape


class Page:
    def __init__(self, name, document, about=""):
        self.name, self.document, self.about = name, document, about

    def html(self, menu, version, near):
        """near: the pages before and after this one in the menu, as (name, title) or None."""
        document = self.document
        title = "Mend" if self.name == "index" else f"{escape(document.title)} · Mend"
        about = f'<p class="lead">{escape(self.about[0].upper() + self.about[1:])}.</p>' if self.about and self.name.endswith(
            (".1", ".5", ".7")) else ""
        contents = [h for h in document.headings if h[0] == 2 or self.name.startswith("api-")]
        aside = ""
        if len(contents) > 2:
            rows = "".join(f'<li class="l{level}"><a href="#{escape(anchor)}">{plain_links(markup)}</a></li>'
                           for level, anchor, markup in contents)
            aside = f'<aside class="toc" aria-label="On this page"><p>On this page</p><ul>{rows}</ul></aside>'
        body = "\n".join(document.html)
        return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<title>{title}</title>
<link rel="icon" type="image/svg+xml" href="icon.svg"/>
<link rel="stylesheet" href="style.css"/>
<script src="search.js" defer="defer"></script>
</head>
<body class="{'home' if self.name == 'index' else 'inner'}">
<a class="skip" href="#content">Skip to the text</a>
<input type="checkbox" id="menu" class="unseen" aria-label="Show the menu"/>
<header>
<label for="menu" class="opener" aria-hidden="true">☰</label>
<a class="brand" href="index.html">Mend</a>
<form id="search" role="search" hidden="hidden" autocomplete="off">
<input type="search" id="query" placeholder="Search ( / )" aria-label="Search" aria-controls="hits"/>
<ol id="hits" aria-live="polite" hidden="hidden"></ol>
</form>
</header>
<div class="frame">
{menu}
<main id="content">
<h1>{document.title_html}</h1>
{about}
{body}
{turn(near)}</main>
{aside}
</div>
<footer>Mend {version}. These pages need no network: copy the folder to wherever you read them.</footer>
</body>
</html>
"""


def turn(near):
    """To the page before and the one after, as in a book."""
    links = "".join(f'<a class="{way}" href="{escape(page[0])}.html">{escape(page[1])}</a>'
                    for way, page in zip(("before", "after"), near) if page)
    return f'<p class="turn">{links}</p>\n' if links else ""


def plain_links(markup):
    return re.sub(r"</?a\b[^>]*>", "", markup)


def navigation(menu, current):
    """Groups of the menu; the one with the current page is open."""
    out = ['<nav aria-label="Pages">']
    for title, entries in menu:
        inside = any(page.partition("#")[0] == current for page, _, _ in entries)
        out.append(f'<details{OPEN if inside or (current == "index") else ""}><summary>{escape(title)}</summary><ul>')
        seen = False
        for page, name, depth in entries:
            path, _, anchor = page.partition("#")
            here = page == current and not seen
            seen |= here
            out.append(f'<li class="d{depth}"><a href="{escape(path)}.html{"#" + escape(anchor) if anchor else ""}"'
                       f'{HERE if here else ""}>{escape(name)}</a></li>')
        out.append("</ul></details>")
    return "\n".join(out + ["</nav>"])


OPEN = ' open="open"'
HERE = ' aria-current="page"'
