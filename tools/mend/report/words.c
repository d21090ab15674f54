/* Durations and sizes as people read them; mend top uses the same. */
#include "report.h"

void report_duration(char *text, size_t size, double seconds)
{
    if (seconds < 0)
        snprintf(text, size, "-");
    else if (seconds < 0.01)
        snprintf(text, size, "%.2g ms", 1e3 * seconds);
    else if (seconds < 1)
        snprintf(text, size, "%.0f ms", 1e3 * seconds);
    else if (seconds < 120)
        snprintf(text, size, "%.1f s", seconds);
    else if (seconds < 7200)
        snprintf(text, size, "%.0f min", seconds / 60);
    else if (seconds < 172800)
        snprintf(text, size, "%.1f h", seconds / 3600);
    else
        snprintf(text, size, "%.3g d", seconds / 86400);
}

void report_amount(char *text, size_t size, double bytes, const char *after)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int k = 0;
    for (; bytes >= 1024 && k < 6; k++)
        bytes /= 1024;
    snprintf(text, size, "%.*f %s%s", k && bytes < 100 ? 1 : 0, bytes, unit[k], after);
}

void report_put_duration(FILE *out, double seconds)
{
    char text[32];
    report_duration(text, sizeof text, seconds);
    fputs(text, out);
}

/* From which version; the library's process layer knows none (-1). */
void report_put_version(FILE *out, mend_version_t version)
{
    if (version > 0)
        fprintf(out, " from version %ld", version);
    else if (version == 0)
        fputs(" from the beginning", out);
}
