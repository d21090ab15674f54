/* mend top: a job as it runs, on a terminal. */
#include "top.h"

#include "tool.h"

#include <base/event.h>
#include <mend/error.h>

#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "Usage: mend top DIR [--once]\n"
    "Show the job whose folder is DIR as it runs, once a second: its ranks, the newest checkpoint\n"
    "of each level and the next one, failures and recoveries, the time lost. Ends when the job\n"
    "ends. q or Ctrl-C ends mend top, not the job.\n\n"
    "  --once   print the state once, as plain text (the default if standard output is no "
    "terminal)\n";

/* A job that has ended no longer changes. */
static double now_of(const struct top *t)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double wall = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    return top_over(t) ? t->sums.end : wall;
}

static void draw_plain(const struct top *t)
{
    struct top_page page = {.out = stdout};
    top_draw(&page, t, now_of(t));
}

/* In one write, so that the terminal never shows half of it. */
static bool draw_screen(const struct top *t)
{
    char *text = NULL;
    size_t size = 0;
    struct top_page page = {.escapes = true, .out = open_memstream(&text, &size)};
    if (!page.out)
        return false;
    top_terminal_size(&page.rows, &page.columns);
    fputs("\033[H", page.out);
    top_draw(&page, t, now_of(t));
    fputs("\033[J", page.out);
    bool ok = fclose(page.out) == 0 && fwrite(text, 1, size, stdout) == size && fflush(stdout) == 0;
    free(text);
    return ok;
}

/* Reading a large job takes long: sleep for most of the time. */
static double pause_after(double took)
{
    return fmin(30, fmax(1 - took, 10 * took));
}

static int follow_job(struct top *t)
{
    struct top_terminal terminal;
    enum top_word word = TOP_GO_ON;
    int rc = MEND_OK;
    bool drawn = true;
    if (top_terminal_open(&terminal))
        return tool_failed("top", "%s", mend_error_text());
    while (word == TOP_GO_ON && drawn) {
        double began = mend_now();
        rc = top_update(t);
        if (rc || top_over(t))
            break;
        drawn = draw_screen(t);
        word = top_terminal_wait(&terminal, pause_after(mend_now() - began));
    }
    top_terminal_close(&terminal);
    if (word == TOP_KILLED)
        raise(terminal.signal);
    if (rc)
        return tool_failed("top", "%s", mend_error_text());
    if (top_over(t)) { /* print how it ended where it stays visible */
        struct top_page page = {.out = stdout};
        top_draw_head(&page, t, now_of(t));
    }
    return TOOL_OK;
}

static bool is_plain(void)
{
    const char *term = getenv("TERM");
    return !isatty(STDOUT_FILENO) || !term || !term[0] || strcmp(term, "dumb") == 0;
}

int mend_cmd_top(int argc, char **argv)
{
    static struct top t;
    const char *dir = NULL;
    bool once = is_plain();
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(help, stdout);
            return TOOL_OK;
        }
        if (strcmp(argv[i], "--once") == 0)
            once = true;
        else if (argv[i][0] == '-' || dir)
            return tool_wrong_use("top", "unexpected argument %s", argv[i]);
        else
            dir = argv[i];
    }
    if (!dir)
        return tool_wrong_use("top", "name the job's folder");
    if (strlen(dir) >= sizeof t.dir)
        return tool_failed("top", "the folder's name is too long");
    setlocale(LC_CTYPE, ""); /* which characters can be shown */
    top_begin(&t, dir);
    int rc = TOOL_OK;
    if (top_update(&t))
        rc = tool_failed("top", "%s", mend_error_text());
    else if (once || top_over(&t))
        draw_plain(&t);
    else
        rc = follow_job(&t);
    top_end(&t);
    return rc;
}
