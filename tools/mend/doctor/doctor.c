/* mend doctor: what this machine has, what is missing and how to get it. */
#include "doctor.h"
#include "filters.h"
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
    "       mend doctor --host LIST | --hostfile FILE [--launcher AGENT] [--dir DIR] [--json]\n"
    "Examine this machine: MPI libraries and whether they survive a real kill (it starts a job of "
    "three\n"
    "ranks and kills one), cores, memory and storage speed, kernel features, GPUs and the speed of "
    "their\n"
    "copies; show what is missing and how to get it.\n\n"
    "  --dir DIR   also measure the storage of DIR, where checkpoints would go\n"
    "  --json      print one JSON object\n"
    "  --host LIST, --hostfile FILE\n"
    "              check these machines instead: can they be reached, do they have the same Mend,\n"
    "              MPI and architecture, do their clocks agree, do they see DIR\n"
    "  --launcher AGENT\n"
    "              how to reach them: \"ssh -x\" (default), \"srun -N1 -n1 -w\", …\n\n"
    "Exit code: 0 if Mend can repair running jobs (on all these machines), 1 if not, 2 wrong "
    "usage.\n";

doctor_finding *doctor_find(doctor *d, const char *name, enum doctor_status status,
                            const char *advice, const char *format, ...)
{
    doctor_finding *more = realloc(d->list, (size_t)(d->count + 1) * sizeof *more);
    char *copy = strdup(name);
    if (!more || !copy) {
        fputs("mend doctor: no memory\n", stderr);
        exit(TOOL_FAILED);
    }
    d->list = more;
    doctor_finding *finding = &d->list[d->count++];
    *finding = (doctor_finding){.name = copy, .status = status, .advice = advice};
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

struct question {
    const char *folder, *host, *hostfile, *agent;
    int json, answer;
};

static int read_words(int argc, char **argv, struct question *q)
{
    for (int i = 1; i < argc; i++) {
        const char **value = strcmp(argv[i], "--dir") == 0        ? &q->folder
                             : strcmp(argv[i], "--host") == 0     ? &q->host
                             : strcmp(argv[i], "--hostfile") == 0 ? &q->hostfile
                             : strcmp(argv[i], "--launcher") == 0 ? &q->agent
                                                                  : NULL;
        if (strcmp(argv[i], "--json") == 0)
            q->json = 1;
        else if (strcmp(argv[i], "--answer") == 0)
            q->answer = 1;
        else if (value && i + 1 < argc)
            *value = argv[++i];
        else
            return tool_wrong_use("doctor", "unknown argument %s", argv[i]);
    }
    if (q->host && q->hostfile)
        return tool_wrong_use("doctor", "give --host or --hostfile, not both");
    return TOOL_OK;
}

static int check_folder(const char *folder)
{
    struct stat st;
    if (folder && (stat(folder, &st) || !S_ISDIR(st.st_mode) || access(folder, W_OK | X_OK)))
        return tool_wrong_use("doctor", "%s is not a writable folder", folder);
    return TOOL_OK;
}

static void check_here(doctor *d, const char *folder)
{
    doctor_check_mpi(d);
    doctor_check_machine(d);
    doctor_check_storage(d, "/dev/shm");
    if (folder)
        doctor_check_storage(d, folder);
    else
        doctor_check_storage(d, getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    doctor_check_kernel(d);
    doctor_check_container(d);
    doctor_check_gpu(d);
}

static int print(doctor *d, int json, const char *good, const char *bad)
{
    int status = worst(d), failed = 0;
    if (json) {
        failed = print_json(d);
    } else {
        print_text(d);
        printf("\n%s\n", status == DOCTOR_BAD ? bad : good);
    }
    for (int i = 0; i < d->count; i++) {
        free(d->list[i].name);
        free(d->list[i].text);
    }
    free(d->list);
    return failed || status == DOCTOR_BAD ? TOOL_FAILED : TOOL_OK;
}

int mend_cmd_doctor(int argc, char **argv)
{
    struct question q = {0};
    doctor d = {.count = 0};
    char why[512];
    int denied;
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        fputs(help, stdout);
        return TOOL_OK;
    }
    int code = read_words(argc, argv, &q);
    if (code)
        return code;
    if (q.answer)
        return doctor_answer(q.folder) ? TOOL_FAILED : TOOL_OK;
    code = check_folder(q.folder);
    if (code)
        return code;
    if (!q.host && !q.hostfile) {
        check_here(&d, q.folder);
        return print(&d, q.json,
                     filters_denied(&denied)
                         ? "Mend can repair running jobs on this machine, but not those of "
                           "unmodified programs: see seccomp."
                         : "Mend can repair running jobs on this machine.",
                     "Mend cannot repair running jobs on this machine: see NO above.");
    }
    if (doctor_check_hosts(&d, q.host, q.hostfile, q.agent, q.folder, why, sizeof why))
        return tool_wrong_use("doctor", "%s", why);
    return print(&d, q.json, "Jobs can run on all these machines together.",
                 "Jobs cannot run on all these machines together: see NO above.");
}
