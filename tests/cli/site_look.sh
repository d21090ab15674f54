#!/usr/bin/env bash
# The site in a real browser: two pages, 400 and 1200 pixels wide, light and dark. No error on the console, nothing wider
# than the window, text that can be read on its paper, and a search box that answers (site_look.js). And each of these can fail.
set -uo pipefail
scratch=$(mktemp -d) || exit 1
cd "$scratch" || exit 1
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; exit 1; }
browser=$(command -v chromium chromium-browser google-chrome 2>/dev/null | head -1)
[ -n "$browser" ] || { echo "SKIP: no browser (chromium is not installed)"; exit 77; }
python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || { echo "SKIP: no python3 from 3.9 on"; exit 77; }
python3 -B "$MEND_SOURCE/docs/site/build.py" site >said || fail "the site is not built"
cp "$MEND_SOURCE/tests/cli/site_look.js" site/look.js
sed -i '0,/<script /s//<script src="look.js"><\/script><script /' site/index.html site/store.html
# the pages are in frames: a browser's own window may have a least width
cat >site/frames.html <<'FRAMES'
<!DOCTYPE html><html><head><meta name="color-scheme" content="light dark"/></head><body><pre id="said"></pre>
<script>addEventListener("message", (e) => { document.getElementById("said").textContent += e.data + "\n"; });</script>
<iframe src="index.html" width="400" height="900" style="border:0"></iframe><iframe src="store.html" width="400" height="900" style="border:0"></iframe>
<iframe src="index.html" width="1200" height="900" style="border:0"></iframe><iframe src="store.html" width="1200" height="900" style="border:0"></iframe>
</body></html>
FRAMES
look() { # SCHEME (0: dark, 1: light): what the pages say
    timeout 200 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --window-size=1300,900 \
        --blink-settings="preferredColorScheme=$1" --enable-logging=stderr --virtual-time-budget=10000 --dump-dom "file://$PWD/site/frames.html" >dom 2>log
    sed -n '/<pre id="said">/,/<\/pre>/p' dom | sed 's/.*<pre id="said">//; s/<\/pre>.*//' | grep . | LC_ALL=C sort
}
for scheme in dark light; do
    number=1; [ $scheme = light ] || number=0
    look $number >seen
    cat seen
    [ "$(cut -d' ' -f1-3 seen)" = "index.html 1200 $scheme
index.html 400 $scheme
store.html 1200 $scheme
store.html 400 $scheme" ] || fail "not every page was seen: $(tail -5 log)"
    grep -q ' 0 bad: $' seen && ! grep -qv ' 0 bad: $' seen || fail "see above"
    ! grep 'CONSOLE' log || fail "the console is not empty"
done

# what is wrong is seen
cp -r site good
wrong() { # WHAT TEXT SED FILE
    rm -rf site; cp -r good site; sed -i "$3" "site/$4"
    cmp -s "good/$4" "site/$4" && fail "$1: nothing was changed"
    look 1 >seen
    grep -q "$2" seen || fail "$1 is not seen: $(cat seen)"
}
wrong "a wide page" 'pixels wide' '$a main h1 { width: 1300px; }' style.css
wrong "a pale text" 'contrast' '$a main p { color: #ccc !important; }' style.css
wrong "a search that fails" 'the search box does not answer' 's/addEventListener("input", show)/addEventListener("input", shown)/' search.js
echo "PASS (seen by $browser)"
