/* Search without a network: every word of the query must occur in a section, as the beginning of a word if possible. */
"use strict";
const MEND_INDEX = [/* INDEX */]; // [address, page, heading, text]

function mendSearch(query, most) {
    const terms = query.toLowerCase().split(/[\s,]+/).filter(Boolean);
    if (!terms.length) return [];
    const starts = (text, term) => {
        for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1))
            if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1])) return true;
        return false;
    };
    const hits = [];
    for (const [address, page, heading, text] of MEND_INDEX) {
        const p = page.toLowerCase(), h = heading.toLowerCase(), t = text.toLowerCase();
        let score = 0, all = true;
        for (const term of terms) {
            const worth = (h === term ? 40 : 0) + (h.split(/[\s,]+/).includes(term) ? 20 : 0) + (starts(h, term) ? 12 : h.includes(term) ? 6 : 0) +
                (starts(p, term) ? 5 : 0) + (starts(t, term) ? 3 : t.includes(term) ? 1 : 0);
            if (!worth) { all = false; break; }
            score += worth;
        }
        if (all) {
            if (terms.length > 1 && (h + " " + t).includes(terms.join(" "))) score += 10;
            if (!address.includes("#")) score += 2;
            hits.push({ score, address, page, heading, snippet: mendSnippet(text, terms) });
        }
    }
    hits.sort((a, b) => b.score - a.score);
    return hits.slice(0, most || 12);
}

function mendSnippet(text, terms) {
    const low = text.toLowerCase();
    const at = Math.max(0, Math.min(...terms.map(t => low.indexOf(t)).filter(i => i >= 0).concat(text.length)));
    const from = at === text.length ? 0 : Math.max(0, text.lastIndexOf(" ", Math.max(0, at - 40)) + 1);
    const space = text.indexOf(" ", from + 150), to = space < 0 ? text.length : space;
    return (from ? "… " : "") + text.slice(from, to) + (to < text.length ? " …" : "");
}

if (typeof document !== "undefined") {
    const form = document.getElementById("search"), box = document.getElementById("query"), list = document.getElementById("hits");
    let chosen = -1;
    const element = (tag, text, kind) => {
        const made = document.createElement(tag);
        made.textContent = text;
        if (kind) made.className = kind;
        return made;
    };
    const show = () => {
        const hits = mendSearch(box.value);
        chosen = -1;
        list.replaceChildren();
        for (const hit of hits) {
            const link = element("a", "");
            link.href = hit.address;
            link.append(element("b", hit.heading || hit.page));
            if (hit.heading && hit.heading !== hit.page) link.append(element("small", hit.page));
            link.append(element("span", hit.snippet));
            const row = element("li", "");
            row.append(link);
            list.append(row);
        }
        if (box.value.trim() && !hits.length) list.append(element("li", "Nothing found.", "nothing"));
        list.hidden = !box.value.trim();
    };
    const choose = (step) => {
        const links = list.querySelectorAll("a");
        if (!links.length) return;
        chosen = (chosen + step + links.length) % links.length;
        links.forEach((link, i) => link.classList.toggle("chosen", i === chosen));
        links[chosen].scrollIntoView({ block: "nearest" });
    };
    form.hidden = false;
    box.addEventListener("input", show);
    box.addEventListener("focus", () => { if (box.value) show(); });
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        const links = list.querySelectorAll("a");
        if (links.length) { location.href = links[Math.max(0, chosen)].href; list.hidden = true; }
    });
    document.addEventListener("click", (event) => { if (!form.contains(event.target) || event.target.closest("#hits a")) list.hidden = true; });
    document.addEventListener("keydown", (event) => {
        if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) { event.preventDefault(); box.focus(); }
        else if (event.key === "Escape") { list.hidden = true; box.blur(); }
        else if (document.activeElement === box && event.key === "ArrowDown") { event.preventDefault(); choose(1); }
        else if (document.activeElement === box && event.key === "ArrowUp") { event.preventDefault(); choose(-1); }
    });
    if (location.search.startsWith("?q=")) { // a link to a search
        box.value = decodeURIComponent(location.search.slice(3).replace(/\+/g, " "));
        show();
    }
} else if (typeof process !== "undefined" && process.argv) { // node search.js WORDS: what the page would show
    for (const hit of mendSearch(process.argv.slice(2).join(" "))) console.log(`${hit.score}\t${hit.address}\t${hit.heading}`);
}
