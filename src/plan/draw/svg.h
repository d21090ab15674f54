/* The few shapes of our plots, as SVG. */
#ifndef PLAN_SVG_H
#define PLAN_SVG_H

#include <stdio.h>

/* Maps a range of values to a range of pixels. */
typedef struct axis {
    double low, high;  /* values */
    double begin, end; /* pixels */
    int logarithmic;
} axis;

void mend_plan_svg_begin(FILE *out, double width, double height, const char *title);
void mend_plan_svg_end(FILE *out);
/* anchor: "start", "middle" or "end" */
void mend_plan_svg_text(FILE *out, double x, double y, const char *anchor, const char *style,
                        const char *format, ...) __attribute__((format(printf, 6, 7)));
void mend_plan_svg_line(FILE *out, double x1, double y1, double x2, double y2, const char *style);
void mend_plan_svg_box(FILE *out, double x, double y, double width, double height,
                       const char *colour, const char *tip);
void mend_plan_svg_dot(FILE *out, double x, double y, const char *colour);
/* Leaves out values outside the axes. */
void mend_plan_svg_curve(FILE *out, const axis *x, const axis *y, const double *xs,
                         const double *ys, int count, const char *style);

double mend_plan_axis_at(const axis *axis, double value);
int mend_plan_axis_holds(const axis *axis, double value);

/* The frame of a panel with ticks and labels. Shows values divided by `unit`. */
void mend_plan_svg_frame(FILE *out, const axis *x, const axis *y, double x_unit, double y_unit,
                         const char *title, const char *x_label, const char *y_label);

/* A unit of time for values up to `seconds`. */
double mend_plan_time_unit(double seconds, const char **name);

#endif
