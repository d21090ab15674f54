/* mend doctor: what this machine has, what is missing and how to get it. */
#include "doctor.h"
#include "launch.h"
#include "tool.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "Usage: mend doctor [--dir DIR] [--json]\n"
    "Look at this machine: MPI libraries and whether they survive a real kill (a job of three "
    "ranks is\n"
    "started and one of them killed), cores, memory and storage speed, kernel features; what is "
    "missing\n"
    "and how to get it.\n\n"
    "  --dir DIR   also measure the storage of DIR, where checkpoints would go\n"
    "  --json      print one JSON object\n\n"
    "Exit code: 0 if jobs can be repaired while they run, 1 if not, 2 wrong use.\n";

doctor_finding *doctor_find(doctor *d, const char *name, enum doctor_status status,
                            const char *advice, const char *format, ...)
{
    static doctor_finding dropped;
    doctor_finding *finding = d->count < DOCTOR_FINDINGS_MAX ? &d->list[d->count++] : &dropped;
    *finding = (doctor_finding){.name = name, .status = status, .advice = advice};
    va_list args;
    va_start(args, format);
    if (vasprintf(&finding->text, format, args) < 0)
        finding->text = NULL;
    va_end(args);
    return finding;
}

static const char *const status_names[] = {"good", "missing", "bad"};

static int worst(const doctor *d)
{
    int status = DOCTOR_GOOD;
    for (int i = 0; i < d->count; i++)
        if ((int)d->list[i].status > status)
            status = (int)d->list[i].status;
    return status;
}

static void print_text(const doctor *d)
{
    static const char *const signs[] = {"ok", "--", "NO"};
    for (int i = 0; i < d->count; i++) {
        const doctor_finding *f = &d->list[i];
        printf("%s  %-12s %s\n", signs[f->status], f->name, f->text ? f->text : "");
        if (f->advice)
            printf("    %-12s → %s\n", "", f->advice);
    }
    printf("\n%s\n", worst(d) == DOCTOR_BAD
                         ? "Jobs cannot be repaired while they run on this machine: see NO above."
                         : "Jobs can be repaired while they run on this machine.");
}

static int print_json(const doctor *d)
{
    json_t *findings = json_array();
    for (int i = 0; i < d->count; i++) {
        const doctor_finding *f = &d->list[i];
        json_t *row =
            json_pack("{s:s, s:s, s:s, s:s?}", "name", f->name, "status", status_names[f->status],
                      "text", f->text ? f->text : "", "advice", f->advice);
        if (f->unit) {
            json_object_set_new(row, "value", json_real(f->value));
            json_object_set_new(row, "unit", json_string(f->unit));
        }
        json_array_append_new(findings, row);
    }
    json_t *all =
        json_pack("{s:i, s:b, s:o}", "mend", 1, "ok", worst(d) != DOCTOR_BAD, "findings", findings);
    int failed = !all || json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(all);
    return failed;
}

int mend_cmd_doctor(int argc, char **argv)
{
    const char *folder = NULL;
    int json = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(help, stdout);
            return TOOL_OK;
        }
        if (strcmp(argv[i], "--json") == 0)
            json = 1;
        else if (strcmp(argv[i], "--dir") == 0 && i + 1 < argc)
            folder = argv[++i];
        else
            return tool_wrong_use("doctor", "unknown argument %s", argv[i]);
    }
    struct stat st;
    if (folder && (stat(folder, &st) || !S_ISDIR(st.st_mode) || access(folder, W_OK | X_OK)))
        return tool_wrong_use("doctor", "%s is not a folder that can be written to", folder);
    doctor d = {.count = 0};
    doctor_check_mpi(&d);
    doctor_check_machine(&d);
    doctor_check_storage(&d, "/dev/shm");
    if (folder)
        doctor_check_storage(&d, folder);
    else
        doctor_check_storage(&d, getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    doctor_check_kernel(&d);
    int failed = 0;
    if (json)
        failed = print_json(&d);
    else
        print_text(&d);
    int status = worst(&d);
    for (int i = 0; i < d.count; i++)
        free(d.list[i].text);
    return failed || status == DOCTOR_BAD ? TOOL_FAILED : TOOL_OK;
}
