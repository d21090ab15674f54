/* A user's own store for the flow layer, as simple as can be: a file per rank and version, two
 * versions kept. For tests. */
#ifndef FLOW_FILE_STORE_H
#define FLOW_FILE_STORE_H

#include <mend/flow.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct file_store {
    char folder[600];
    MPI_Comm comm;
    int rank, calls;
    FILE *open;
};

enum { FILE_STORE_VERSIONS = 1000 };

static void file_store_path(const struct file_store *s, long version, char *path, size_t size)
{
    snprintf(path, size, "%s/v%ld.r%d", s->folder, version, s->rank);
}

static int file_store_bind(void *arg, MPI_Comm comm, int rank)
{
    struct file_store *s = arg;
    s->rank = rank;
    mkdir(s->folder, 0700);
    if (MPI_Comm_dup(comm, &s->comm) != MPI_SUCCESS)
        return MEND_ERR_PEER_FAILED;
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    return 0;
}

static int file_store_save(void *arg, long version, const mend_flow_part *parts, int count,
                           unsigned levels)
{
    struct file_store *s = arg;
    char path[700], temporary[720];
    (void)levels;
    s->calls++;
    file_store_path(s, version, path, sizeof path);
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    FILE *to = fopen(temporary, "w");
    for (int i = 0; i < count; i++) {
        fwrite(&parts[i].id, sizeof parts[i].id, 1, to);
        fwrite(&parts[i].bytes, sizeof parts[i].bytes, 1, to);
        fwrite(parts[i].address, 1, parts[i].bytes, to);
    }
    fclose(to);
    rename(temporary, path);
    return MPI_Barrier(s->comm) == MPI_SUCCESS ? 0 : MEND_ERR_PEER_FAILED;
}

/* The newest version in the intersection of what all ranks have. */
static int file_store_newest(void *arg, long at_most, long *version)
{
    struct file_store *s = arg;
    static unsigned char mine[FILE_STORE_VERSIONS], all[FILE_STORE_VERSIONS];
    char path[700];
    for (long v = 0; v < FILE_STORE_VERSIONS; v++) {
        file_store_path(s, v, path, sizeof path);
        mine[v] = access(path, R_OK) == 0;
    }
    if (MPI_Allreduce(mine, all, FILE_STORE_VERSIONS, MPI_UNSIGNED_CHAR, MPI_BAND, s->comm) !=
        MPI_SUCCESS)
        return MEND_ERR_PEER_FAILED;
    for (long v = FILE_STORE_VERSIONS - 1; v >= 0; v--)
        if (all[v] && v <= at_most) {
            *version = v;
            return 0;
        }
    return MEND_ERR_NO_VERSION;
}

static int file_store_begin(void *arg, long version, int rank)
{
    struct file_store *s = arg;
    char path[700];
    file_store_path(s, version, path, sizeof path);
    s->open = rank == -2 ? NULL : fopen(path, "r");
    return 0;
}

static int file_store_find(struct file_store *s, int id, size_t *bytes)
{
    int at;
    rewind(s->open);
    while (fread(&at, sizeof at, 1, s->open) == 1 && fread(bytes, sizeof *bytes, 1, s->open) == 1) {
        if (at == id)
            return 0;
        fseek(s->open, (long)*bytes, SEEK_CUR);
    }
    return MEND_ERR_REGION;
}

static int file_store_size(void *arg, int id, size_t *bytes)
{
    return file_store_find(arg, id, bytes);
}

static int file_store_read(void *arg, int id, size_t offset, void *to, size_t bytes)
{
    struct file_store *s = arg;
    size_t length;
    int rc = file_store_find(s, id, &length);
    if (rc)
        return rc;
    fseek(s->open, (long)offset, SEEK_CUR);
    return fread(to, 1, bytes, s->open) == bytes ? 0 : MEND_ERR_IO;
}

static int file_store_end(void *arg, long version)
{
    struct file_store *s = arg;
    (void)version;
    if (s->open)
        fclose(s->open);
    s->open = NULL;
    return 0;
}

static int file_store_close(void *arg)
{
    (void)arg;
    return 0;
}

static inline mend_flow_store file_store_table(struct file_store *s, const char *folder)
{
    snprintf(s->folder, sizeof s->folder, "%s", folder);
    return (mend_flow_store){.struct_size = sizeof(mend_flow_store),
                             .part_size = sizeof(mend_flow_part),
                             .arg = s,
                             .bind = file_store_bind,
                             .save = file_store_save,
                             .newest = file_store_newest,
                             .begin = file_store_begin,
                             .size = file_store_size,
                             .read = file_store_read,
                             .end = file_store_end,
                             .close = file_store_close};
}

#endif
