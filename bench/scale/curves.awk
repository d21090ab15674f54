# curves.awk: scale.tsv (a head, then rows of ranks and times) as an SVG: each time divided by that of the first row,
# against log2(ranks); a dashed line grows as log2(ranks) does.
BEGIN { FS = "\t"; W = 640; H = 420; left = 60; right = 130; top = 30; bottom = 50; split("#1b6ca8 #c7522a #4a7c59 #7b4fa3", color, " ") }
NR == 1 { columns = NF; for (c = 2; c <= NF; c++) name[c] = $c; next }
{
    n++; x[n] = log($1) / log(2); ranks[n] = $1
    for (c = 2; c <= NF; c++) {
        if (n == 1) first[c] = $c
        y[n, c] = first[c] > 0 ? $c / first[c] : 0
        if (y[n, c] > most) most = y[n, c]
    }
}
function px(v) { return left + (n > 1 ? (v - x[1]) / (x[n] - x[1]) : 0) * (W - left - right) }
function py(v) { return H - bottom - v / most * (H - top - bottom) }
END {
    if (!n) exit 1
    if (most < x[n] / (x[1] > 0 ? x[1] : 1)) most = x[n] / (x[1] > 0 ? x[1] : 1)
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n", W, H
    printf "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", W, H
    printf "<text x=\"%d\" y=\"18\">times of a job, each divided by that at %d ranks</text>\n", left, ranks[1]
    printf "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#333333\"/>\n", left, top, H - bottom, W - right
    for (i = 1; i <= n; i++)
        printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>\n", px(x[i]), H - bottom + 18, ranks[i]
    printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">ranks</text>\n", (left + W - right) / 2, H - 12
    for (k = 0; k <= 4; k++)
        printf "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.1f</text>\n", left - 6, py(most * k / 4) + 4, most * k / 4
    for (c = 2; c <= columns; c++) {
        printf "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"%s\" points=\"", color[c - 1]
        for (i = 1; i <= n; i++) printf "%.1f,%.1f ", px(x[i]), py(y[i, c])
        printf "\"/>\n<text x=\"%d\" y=\"%.1f\" fill=\"%s\">%s (%.3g s)</text>\n", W - right + 6, py(y[n, c]) + 4, color[c - 1], name[c], first[c]
    }
    printf "<polyline fill=\"none\" stroke=\"#999999\" stroke-dasharray=\"4 4\" points=\""
    for (i = 1; i <= n; i++) printf "%.1f,%.1f ", px(x[i]), py(x[1] > 0 ? x[i] / x[1] : 1)
    printf "\"/>\n<text x=\"%d\" y=\"%.1f\" fill=\"#777777\">log2(ranks)</text>\n</svg>\n", W - right + 6, py(x[1] > 0 ? x[n] / x[1] : 1) - 8
}
