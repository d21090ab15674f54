/* What `mend report` and `mend top` make of a job's folder that anybody may have written: job.json up to a line "---",
 * then events. The page has no tags but the report's own, no attribute ends early, its size follows that of the input,
 * and the JSON is JSON. What is shown on a terminal fits it and has nothing but printable characters. */
#include "../../tools/mend/jobfile.h"
#include "../../tools/mend/report/report.h"
#include "../../tools/mend/top/top.h"

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const tags[] = {
    "!doctype", "html", "head",  "meta", "title", "style", "body",   "section", "h1",   "h2",
    "h3",       "p",    "div",   "b",    "span",  "svg",   "line",   "text",    "rect", "circle",
    "ul",       "li",   "table", "tr",   "th",    "td",    "footer", "g",       "code", "a"};

static void check_page(const char *page)
{
    for (const char *p = page; (p = strchr(p, '<')); p++) {
        const char *name = p[1] == '/' ? p + 2 : p + 1;
        size_t length = strcspn(name, " >/"), known = 0;
        for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
            known += strlen(tags[i]) == length && strncmp(tags[i], name, length) == 0;
        const char *end = strchr(p, '>'), *next = strchr(p + 1, '<');
        if (!known || !end || (next && next < end))
            abort();
    }
}

static void check_picture(struct top *t, int rows, int columns)
{
    char *text = NULL;
    size_t size = 0;
    int lines = 0, width = 0;
    struct top_page page = {.rows = rows, .columns = columns, .out = open_memstream(&text, &size)};
    top_draw(&page, t, t->sums.end);
    fclose(page.out);
    for (size_t i = 0; i < size; i++) {
        if (text[i] != '\n' && (text[i] < ' ' || text[i] > '~'))
            abort();
        width = text[i] == '\n' ? 0 : width + 1;
        lines += text[i] == '\n';
        if (columns && width > columns)
            abort();
    }
    if ((rows && lines > rows) || lines > 3000)
        abort();
    free(text);
}

static void look(char *events, json_t *job)
{
    struct top *t = malloc(sizeof *t);
    top_begin(t, "the folder");
    top_note_events(t, events);
    if (job)
        top_note_job(t, job);
    check_picture(t, 0, 0);
    check_picture(t, 24, 80);
    check_picture(t, 3, 7);
    top_end(t);
    free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *page = NULL, *json = NULL;
    size_t page_size, json_size;
    memcpy(text, data, size);
    text[size] = 0;
    char *events = strstr(text, "\n---\n");
    if (events) {
        *events = 0;
        events += 5;
    }
    struct report r = {.dir = "<the folder>"};
    json_t *job = NULL;
    if (events && jobfile_parse(text, strlen(text), "job.json", &job))
        job = NULL;
    char *again = strdup(events ? events : text); /* reading cuts it into lines */
    look(again, job);
    free(again);
    report_note_events(&r, events ? events : text);
    if (job)
        report_note_job(&r, job);
    json_decref(job);
    FILE *out = open_memstream(&page, &page_size);
    report_page(out, &r);
    fclose(out);
    check_page(page);
    if (page_size > 4000000 + 4000 * size)
        abort();
    out = open_memstream(&json, &json_size);
    report_json(out, &r);
    fclose(out);
    json_error_t error;
    json_t *parsed = json_loads(json, 0, &error);
    if (!parsed)
        abort();
    json_decref(parsed);
    report_free(&r);
    free(page);
    free(json);
    free(text);
    return 0;
}
