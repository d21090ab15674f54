/* mend verify DIR: read and check every block of every file of every store below a folder. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include <image/bundle.h>

#include "tool.h"
#include "versions.h"

static const char usage[] = "Usage: mend verify [--json] DIR\n\n"
                            "Read every block of every file of the stores below DIR and check its "
                            "checksum. Name damaged files.\n"
                            "Exit code 0: everything is intact; 1: something is damaged.\n";

struct tally {
    bool json, quiet;
    long files, damaged, total;
    uint64_t bytes;
    json_t *list;
    time_t told;
};

static void progress(struct tally *t, bool end)
{
    time_t now = time(NULL);
    if (t->quiet || (!end && now == t->told))
        return;
    t->told = now;
    fprintf(stderr, "\r%ld of %ld files, %.1f GiB%s", t->files, t->total,
            (double)t->bytes / (1 << 30), end ? "\n" : "");
    fflush(stderr);
}

static int count_file(const char *folder, const mend_file *file, void *context)
{
    (void)folder;
    (void)file;
    ((struct tally *)context)->total++;
    return 0;
}

static void report(struct tally *t, const char *folder, const char *name)
{
    t->damaged++;
    if (t->json)
        json_array_append_new(t->list, json_pack("{s:s, s:s, s:s}", "folder", folder, "file", name,
                                                 "error", mend_error_text()));
    else
        printf("damaged: %s/%s: %s\n", folder, name, mend_error_text());
}

static int verify_bundle(const char *folder, const mend_file *file, struct tally *t)
{
    char name[MEND_FILE_NAME_MAX], path[4096];
    mend_source source;
    mend_bundle_entry *entries = NULL;
    uint64_t count = 0, id;
    mend_version_t version;
    mend_file_name(file, name);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int rc = mend_source_file(path, 0, UINT64_MAX, &source);
    if (rc == 0)
        rc = mend_bundle_open(source, &entries, &count, &version, &id);
    for (uint64_t i = 0; rc == 0 && i < count; i++) {
        mend_image *image = NULL;
        rc = mend_folder_open_bundled(folder, file, (int)entries[i].rank, &image);
        if (rc == 0) {
            rc = mend_image_verify(image);
            t->bytes += mend_image_file_bytes(image);
            mend_image_close(image);
        }
        progress(t, false);
    }
    free(entries);
    return rc;
}

/* The file itself; that its bases are there and fit; the bases' blocks have their own turn. */
static int verify_image(const char *folder, const mend_file *file, struct tally *t)
{
    mend_image *image = NULL;
    int rc = mend_folder_open_chain(folder, file, &image);
    if (rc)
        return rc;
    rc = mend_image_verify(image);
    t->bytes += mend_image_file_bytes(image);
    mend_image_close(image);
    return rc;
}

static int verify_file(const char *folder, const mend_file *file, void *context)
{
    struct tally *t = context;
    char name[MEND_FILE_NAME_MAX];
    mend_file_name(file, name);
    int rc = file->kind == MEND_FILE_BUNDLE ? verify_bundle(folder, file, t)
                                            : verify_image(folder, file, t);
    t->files++;
    if (rc)
        report(t, folder, name);
    progress(t, false);
    return 0;
}

int mend_cmd_verify(int argc, char **argv)
{
    struct tally t = {.quiet = !isatty(2)};
    const char *dir = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(usage, stdout);
            return 0;
        }
        if (strcmp(argv[i], "--json") == 0)
            t.json = true;
        else if (argv[i][0] == '-' || dir)
            return tool_wrong_use("verify", "unknown argument %s", argv[i]);
        else
            dir = argv[i];
    }
    if (!dir)
        return tool_wrong_use("verify", "name a folder");
    t.list = json_array();
    int rc = versions_walk(dir, count_file, &t);
    if (rc == 0)
        rc = versions_walk(dir, verify_file, &t);
    if (rc) {
        json_decref(t.list);
        return tool_failed("verify", "%s", mend_error_text());
    }
    progress(&t, true);
    if (t.json) {
        json_t *all = json_pack("{s:i, s:s, s:I, s:I, s:b, s:O}", "mend", 1, "folder", dir, "files",
                                (json_int_t)t.files, "bytes", (json_int_t)t.bytes, "ok",
                                t.damaged == 0, "damaged", t.list);
        json_dumpf(all, stdout, JSON_INDENT(1));
        printf("\n");
        json_decref(all);
    } else if (t.files == 0) {
        printf("no checkpoints in %s\n", dir);
    } else {
        printf("%ld files, %" PRIu64 " bytes read, %ld damaged\n", t.files, t.bytes, t.damaged);
    }
    json_decref(t.list);
    return t.damaged ? 1 : 0;
}
