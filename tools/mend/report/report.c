/* mend report: one self-contained page about a job, from its events. */
#include "report.h"
#include "tool.h"

#include <base/io.h>
#include <mend/error.h>

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: mend report DIR [-o FILE] [--watch | --json]\n"
    "Write one self-contained page about the job in DIR (from DIR/events.jsonl): ranks over time,\n"
    "recoveries and their phases, where the time and the core-hours went, costs compared with the "
    "plan.\n\n"
    "  -o FILE   write to FILE (default DIR/report.html; - for standard output)\n"
    "  --watch   write it again whenever there are new events, until the job ends; the page\n"
    "            reloads itself in a browser\n"
    "  --json    print the sums as JSON instead\n";

/* What leads from the page to the files of the job: nothing if they share a folder. Free it; NULL: unknown. */
static char *way_to_files(const char *dir, const char *path)
{
    char *folder = realpath(dir, NULL), *copy = strdup(path), *way = NULL;
    char *page = copy ? realpath(dirname(copy), NULL) : NULL;
    if (folder && page && strcmp(folder, page) == 0)
        way = strdup("");
    else if (folder && page && asprintf(&way, "%s/", folder) < 0)
        way = NULL;
    free(folder);
    free(copy);
    free(page);
    return way;
}

int report_write(struct report *r, const char *path)
{
    char *text = NULL, *way = strcmp(path, "-") ? way_to_files(r->dir, path) : NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        free(way);
        return tool_failed("report", "no memory");
    }
    r->files = way;
    report_page(out, r);
    r->files = NULL;
    free(way);
    if (fclose(out))
        return tool_failed("report", "no memory for the page");
    int rc = TOOL_OK;
    if (strcmp(path, "-") == 0)
        fwrite(text, 1, size, stdout);
    else if (mend_io_replace_file(path, text, size))
        rc = tool_failed("report", "%s", mend_error_text());
    free(text);
    return rc;
}

int mend_cmd_report(int argc, char **argv)
{
    const char *dir = NULL, *output = NULL;
    char path[4400];
    bool json = false, watch = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(help, stdout);
            return TOOL_OK;
        }
        if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (strcmp(argv[i], "--watch") == 0)
            watch = true;
        else if (strcmp(argv[i], "-o") == 0 && i + 1 < argc)
            output = argv[++i];
        else if (argv[i][0] == '-' || dir)
            return tool_wrong_use("report", "unexpected argument %s", argv[i]);
        else
            dir = argv[i];
    }
    if (!dir)
        return tool_wrong_use("report", "name the job's folder");
    if (watch && (json || (output && strcmp(output, "-") == 0)))
        return tool_wrong_use("report", "--watch writes a page to a file");
    snprintf(path, sizeof path, "%s/report.html", dir);
    if (watch)
        return report_watch(dir, output ? output : path);
    struct report r;
    if (report_read(&r, dir))
        return tool_failed("report", "%s", mend_error_text());
    int rc = TOOL_OK;
    if (json)
        report_json(stdout, &r);
    else
        rc = report_write(&r, output ? output : path);
    report_free(&r);
    return rc;
}
