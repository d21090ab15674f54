/* mend ls DIR: versions, levels, sizes, completeness of all stores below a folder. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <image/abi.h>

#include "tool.h"
#include "versions.h"

static const char usage[] =
    "Usage: mend ls [--json] DIR\n\n"
    "List the checkpoints of every store below DIR: how many ranks saved each, which parts exist "
    "at\n"
    "which level, their sizes, and whether the job can restore it from them.\n";

static void print_size(uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double size = (double)bytes;
    int unit = 0;
    while (size >= 1024 && unit < 5) {
        size /= 1024;
        unit++;
    }
    printf(unit ? "%8.1f %-3s" : "%8.0f %-3s", size, units[unit]);
}

static void print_version(const struct store_view *store, const struct version_view *v)
{
    printf("%-20s %8" PRId64 "  %5d  ", store->name, v->version, v->ranks);
    print_size(v->bytes);
    printf("  %s", v->complete ? "complete" : "incomplete");
    for (int k = 0; k < MEND_FILE_KINDS; k++)
        if (v->parts[k])
            printf("  %s %d/%d", mend_file_kind_name((enum mend_file_kind)k), v->parts[k],
                   v->ranks);
    for (int i = 0, shown = 0; i < v->group_count; i++) { /* groups of one shape are named once */
        int k = v->groups[i].size - v->groups[i].parity, m = v->groups[i].parity;
        if (i == 0 || shown != k * MEND_GROUP_MAX + m)
            printf(" (%d+%d)", k, m);
        shown = k * MEND_GROUP_MAX + m;
    }
    if (v->rebuildable)
        printf("  %d from parity", v->rebuildable);
    if (v->deltas)
        printf("  (%d deltas)", v->deltas);
    if (v->damaged)
        printf("  %d damaged", v->damaged);
    if (v->on_gpu[0])
        printf("  on a GPU: %s", v->on_gpu);
    if (v->jobs_differ)
        printf("  of several jobs");
    else if (v->job.id[0])
        printf("  job %s (%s)", v->job.id, v->job.program);
    if (mend_abi_title(v->job.abi))
        printf("  built for %s", mend_abi_title(v->job.abi));
    printf("\n");
}

static json_t *version_json(const struct version_view *v)
{
    json_t *parts = json_object(), *o;
    char id[20];
    for (int k = 0; k < MEND_FILE_KINDS; k++)
        json_object_set_new(parts, mend_file_kind_name((enum mend_file_kind)k),
                            json_integer(v->parts[k]));
    snprintf(id, sizeof id, "%016" PRIx64, v->save_id);
    o = json_pack("{s:I, s:s, s:i, s:I, s:b, s:i, s:i, s:i, s:i, s:o}", "version",
                  (json_int_t)v->version, "save_id", id, "ranks", v->ranks, "bytes",
                  (json_int_t)v->bytes, "complete", v->complete, "from_parity", v->rebuildable,
                  "groups", v->group_count, "deltas", v->deltas, "damaged", v->damaged, "parts",
                  parts);
    if (o && v->on_gpu[0])
        json_object_set_new(o, "on_gpu", json_string(v->on_gpu));
    if (o && v->job.id[0]) {
        json_object_set_new(o, "job", json_string(v->job.id));
        json_object_set_new(o, "program", json_string(v->job.program));
        if (mend_abi_name(v->job.abi))
            json_object_set_new(o, "abi", json_string(mend_abi_name(v->job.abi)));
        snprintf(id, sizeof id, "%016" PRIx64, v->job.build);
        json_object_set_new(o, "build", json_string(id));
        snprintf(id, sizeof id, "%016" PRIx64, v->job.arguments);
        json_object_set_new(o, "arguments", json_string(id));
        json_object_set_new(o, "jobs_differ", json_boolean(v->jobs_differ));
    }
    return o;
}

static int print_json(const struct store_view *stores, int count, const char *dir)
{
    json_t *list = json_array();
    for (int s = 0; s < count; s++) {
        json_t *versions = json_array();
        for (int i = 0; i < stores[s].count; i++)
            json_array_append_new(versions, version_json(&stores[s].versions[i]));
        json_array_append_new(
            list, json_pack("{s:s, s:o}", "store", stores[s].name, "versions", versions));
    }
    json_t *all = json_pack("{s:i, s:s, s:o}", "mend", 1, "folder", dir, "stores", list);
    int rc = all ? json_dumpf(all, stdout, JSON_INDENT(1)) : -1;
    printf("\n");
    json_decref(all);
    return rc ? 1 : 0;
}

int mend_cmd_ls(int argc, char **argv)
{
    bool json = false;
    const char *dir = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(usage, stdout);
            return 0;
        }
        if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (argv[i][0] == '-' || dir)
            return tool_wrong_use("ls", "unknown argument %s", argv[i]);
        else
            dir = argv[i];
    }
    if (!dir)
        return tool_wrong_use("ls", "name a folder");
    struct store_view *stores = NULL;
    int count = 0, rc = versions_read(dir, &stores, &count);
    if (rc)
        return tool_failed("ls", "%s", mend_error_text());
    if (json) {
        rc = print_json(stores, count, dir);
    } else {
        if (count)
            printf("%-20s %8s  %5s  %12s  %s\n", "store", "version", "ranks", "size", "parts");
        else
            printf("no checkpoints in %s\n", dir);
        for (int s = 0; s < count; s++)
            for (int i = 0; i < stores[s].count; i++)
                print_version(&stores[s], &stores[s].versions[i]);
    }
    versions_free(stores, count);
    return rc;
}
