#include "draw/svg.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

void mend_plan_svg_begin(FILE *out, double width, double height, const char *title)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
            "viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            width, height, width, height, title);
}

void mend_plan_svg_end(FILE *out)
{
    fputs("</svg>\n", out);
}

/* The text is all our own, but a bracket must not break a plot. */
static void put_escaped(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        default: fputc(*text, out);
        }
}

void mend_plan_svg_text(FILE *out, double x, double y, const char *anchor, const char *style,
                        const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" %s>", x, y, anchor, style);
    put_escaped(out, text);
    fputs("</text>\n", out);
}

void mend_plan_svg_line(FILE *out, double x1, double y1, double x2, double y2, const char *style)
{
    fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2,
            style);
}

void mend_plan_svg_box(FILE *out, double x, double y, double width, double height,
                       const char *colour, const char *tip)
{
    fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\">", x, y,
            fmax(0, width), fmax(0, height), colour);
    fputs("<title>", out);
    put_escaped(out, tip);
    fputs("</title></rect>\n", out);
}

void mend_plan_svg_dot(FILE *out, double x, double y, const char *colour)
{
    fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\" stroke=\"#fff\"/>\n", x, y,
            colour);
}

double mend_plan_axis_at(const axis *axis, double value)
{
    double low = axis->low, high = axis->high;
    if (axis->logarithmic)
        value = log(value), low = log(low), high = log(high);
    double share = high > low ? (value - low) / (high - low) : 0.5;
    return axis->begin + share * (axis->end - axis->begin);
}

int mend_plan_axis_holds(const axis *axis, double value)
{
    double slack = 1e-9 * (axis->high - axis->low);
    return value >= axis->low - slack && value <= axis->high + slack;
}

void mend_plan_svg_curve(FILE *out, const axis *x, const axis *y, const double *xs,
                         const double *ys, int count, const char *style)
{
    int open = 0;
    for (int i = 0; i < count; i++) {
        if (!mend_plan_axis_holds(x, xs[i]) || !mend_plan_axis_holds(y, ys[i])) {
            if (open)
                fprintf(out, "\" fill=\"none\" %s/>\n", style);
            open = 0;
            continue;
        }
        fputs(open ? " " : "<polyline points=\"", out);
        open = 1;
        fprintf(out, "%.1f,%.1f", mend_plan_axis_at(x, xs[i]), mend_plan_axis_at(y, ys[i]));
    }
    if (open)
        fprintf(out, "\" fill=\"none\" %s/>\n", style);
}

/* 1, 2 or 5 times a power of ten, so that at most `most` ticks fit. */
static double tick_step(double range, int most)
{
    double step = pow(10, floor(log10(range / most)));
    static const double factors[] = {1, 2, 5, 10};
    for (int i = 0; i < 4; i++)
        if (range / (step * factors[i]) <= most)
            return step * factors[i];
    return step * 10;
}

static void put_tick(FILE *out, const axis *axis, const struct axis *other, int is_x, double value,
                     double unit)
{
    double at = mend_plan_axis_at(axis, value);
    const char *grid = "stroke=\"#ddd\"";
    if (is_x) {
        mend_plan_svg_line(out, at, other->begin, at, other->end, grid);
        mend_plan_svg_text(out, at, other->begin + 16, "middle", "fill=\"#444\"", "%.7g",
                           value / unit);
    } else {
        mend_plan_svg_line(out, other->begin, at, other->end, at, grid);
        mend_plan_svg_text(out, other->begin - 6, at + 4, "end", "fill=\"#444\"", "%.7g",
                           value / unit);
    }
}

static void put_ticks(FILE *out, const axis *axis, const struct axis *other, int is_x, double unit)
{
    double low = axis->low / unit, high = axis->high / unit;
    int most = fabs(axis->end - axis->begin) < 250 ? 5 : 7;
    if (!(high > low)) {
        put_tick(out, axis, other, is_x, axis->low, unit);
        return;
    }
    if (!axis->logarithmic || high / low < 3) {
        double step = tick_step(high - low, most);
        for (double tick = ceil(low / step - 1e-9); tick * step <= high * (1 + 1e-9); tick++)
            put_tick(out, axis, other, is_x, fabs(tick) * step * unit, unit);
        return;
    }
    double decades = log10(high / low), every = ceil(decades / most);
    static const double parts[] = {1, 2, 5};
    int count = decades <= 2.5 ? 3 : 1;
    for (double e = floor(log10(low)); e <= log10(high); e += every)
        for (int i = 0; i < count; i++) {
            double value = parts[i] * pow(10, e);
            if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9))
                put_tick(out, axis, other, is_x, value * unit, unit);
        }
}

void mend_plan_svg_frame(FILE *out, const axis *x, const axis *y, double x_unit, double y_unit,
                         const char *title, const char *x_label, const char *y_label)
{
    put_ticks(out, x, y, 1, x_unit);
    put_ticks(out, y, x, 0, y_unit);
    mend_plan_svg_line(out, x->begin, y->begin, x->end, y->begin, "stroke=\"#444\"");
    mend_plan_svg_line(out, x->begin, y->begin, x->begin, y->end, "stroke=\"#444\"");
    mend_plan_svg_text(out, x->begin, y->end - 12, "start", "font-weight=\"bold\"", "%s", title);
    mend_plan_svg_text(out, (x->begin + x->end) / 2, y->begin + 34, "middle", "fill=\"#444\"", "%s",
                       x_label);
    char turned[96];
    snprintf(turned, sizeof turned, "fill=\"#444\" transform=\"rotate(-90 %.1f %.1f)\"",
             x->begin - 44, (y->begin + y->end) / 2);
    mend_plan_svg_text(out, x->begin - 44, (y->begin + y->end) / 2, "middle", turned, "%s",
                       y_label);
}

double mend_plan_time_unit(double seconds, const char **name)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"d", 86400}, {"h", 3600}, {"min", 60}};
    for (int i = 0; i < 3; i++)
        if (seconds >= 2 * units[i].seconds) {
            *name = units[i].name;
            return units[i].seconds;
        }
    *name = "s";
    return 1;
}
