/* In each page that site_look.sh shows, before its own programs: what a reader would see is measured, and told to the page
 * around it. */
"use strict";
const bad = [];
addEventListener("error", (e) => bad.push("error: " + (e.message || e.target.src || e.target.href)), true);
addEventListener("unhandledrejection", (e) => bad.push("error: " + e.reason));
for (const kind of ["error", "warn"]) console[kind] = (...words) => bad.push(kind + ": " + words.join(" "));

const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
const light = (colour) => { // relative luminance
    const [r, g, b] = numbers(colour).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (element) => { // the colour that is seen there
    for (; element; element = element.parentElement) {
        const colour = getComputedStyle(element).backgroundColor, [, , , alpha = 1] = numbers(colour);
        if (alpha > 0.5) return colour;
    }
    return matchMedia("(prefers-color-scheme: dark)").matches ? "rgb(18, 18, 18)" : "rgb(255, 255, 255)";
};
const name = (element) => element.tagName.toLowerCase() + (element.id ? "#" + element.id : "") + ": " + element.textContent.slice(0, 40);

function measure() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches, root = document.documentElement;
    if (root.scrollWidth > innerWidth)
        bad.push(`${root.scrollWidth} pixels wide: ` + [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(name)[0]);
    const paper = light(behind(document.querySelector("main")));
    if (dark ? paper > 0.2 : paper < 0.7) bad.push(`the paper's luminance is ${paper.toFixed(2)}`);
    for (const element of document.querySelectorAll("main h1, main h2, main p, main li, main td, main a, main code, header a, footer")) {
        if (!element.getClientRects().length || getComputedStyle(element).opacity === "0") continue;
        const pair = [light(getComputedStyle(element).color), light(behind(element))].sort((a, b) => b - a), contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
        if (contrast < 4.5) { bad.push(`contrast ${contrast.toFixed(1)}: ${name(element)}`); break; }
    }
    const box = document.getElementById("query"), list = document.getElementById("hits");
    const ask = (words) => { box.value = words; box.dispatchEvent(new Event("input")); return [...list.querySelectorAll("a")]; };
    if (!box.getClientRects().length) bad.push("no search box is seen");
    const hits = ask("partner memory");
    if (!hits.length || list.hidden || !list.getClientRects().length) bad.push("the search box does not answer");
    for (const hit of hits) {
        const seen = hit.getBoundingClientRect();
        if (seen.left < 0 || seen.right > innerWidth) { bad.push("an answer is not in the window"); break; }
    }
    if (ask("zzyzx").length || !list.textContent.includes("Nothing found")) bad.push("the search box finds what is not there");
    parent.postMessage(`${location.pathname.split("/").pop()} ${innerWidth} ${dark ? "dark" : "light"} ${hits.length} hits, ${bad.length} bad: ${bad.join("; ")}`, "*");
}
addEventListener("load", () => setTimeout(measure, 100));
