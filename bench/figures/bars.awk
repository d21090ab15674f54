# Stacked bars as SVG. Lines "group|label|v1|v2|…"; -v title=… -v names="a,b,…" -v unit=s
function esc(s) { gsub(/&/, "\\&amp;", s); gsub(/</, "\\&lt;", s); return s }
BEGIN {
    FS = "|"
    split("#4878a8,#9ecae1,#f0a030,#d04040,#8858a0,#b0b0b0,#60a060,#303030", colour, ",")
    parts = split(names, name, ",")
}
{
    n++
    group[n] = $1; label[n] = $2; total = 0
    for (i = 1; i <= parts; i++) { v[n, i] = ($(i + 2) > 0) ? $(i + 2) : 0; total += v[n, i] }
    sum[n] = total
    if (total > most) most = total
}
END {
    wide = 900; left = 250; bar = 15; y = 64; room = wide - left - 90
    body = ""
    for (k = 1; k <= n; k++) {
        if (group[k] != group[k - 1]) {
            y += 10
            body = body sprintf("<text x=\"8\" y=\"%d\" font-weight=\"bold\">%s</text>\n", y + 12, esc(group[k]))
            y += 20
        }
        x = left
        body = body sprintf("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", left - 6, y + 11, esc(label[k]))
        for (i = 1; i <= parts; i++) {
            w = v[k, i] / most * room
            if (w > 0)
                body = body sprintf("<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"><title>%s %.4g %s</title></rect>\n", x, y, w, bar - 2, colour[i], esc(name[i]), v[k, i], unit)
            x += w
        }
        body = body sprintf("<text x=\"%.1f\" y=\"%d\">%.3g %s</text>\n", x + 5, y + 11, sum[k], unit)
        y += bar
    }
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" font-family=\"sans-serif\" font-size=\"11\">\n", wide, y + 12, wide
    printf "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"8\" y=\"20\" font-size=\"15\">%s</text>\n", esc(title)
    x = 8
    for (i = 1; i <= parts; i++) {
        printf "<rect x=\"%d\" y=\"34\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%d\" y=\"44\">%s</text>\n", x, colour[i], x + 16, esc(name[i])
        x += 30 + 7 * length(name[i])
    }
    printf "%s</svg>\n", body
}
