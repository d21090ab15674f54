/* The SCR face: what a version says of itself. A text:
 *
 *   scr 1
 *   name NAME
 *   flags N
 *   file BYTES MODE NAME      one line per file; the n-th is region n-1
 */
#include "client.h"

#include <base/fail.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD_LIMIT = 64 << 20 };

bool mend_scr_is_name(const char *name)
{
    size_t length = name ? strlen(name) : 0;
    return length > 0 && length < SCR_NAME && !strpbrk(name, "/\n") && name[0] != '.';
}

int mend_scr_record_write(const struct scr_client *client, char **text, size_t *size)
{
    FILE *out = open_memstream(text, size);
    if (!out)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the record of %s", client->name);
    fprintf(out, "scr 1\nname %s\nflags %d\n", client->name, client->flags);
    for (int i = 0; i < client->file_count; i++)
        fprintf(out, "file %zu %o %s\n", client->files[i].bytes, (unsigned)client->files[i].mode,
                client->files[i].name);
    if (fclose(out))
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the record of %s", client->name);
    return MEND_OK;
}

static int add_file(struct scr_client *client, const char *line)
{
    struct scr_file file = {0};
    unsigned mode = 0;
    int at = 0;
    if (sscanf(line, "file %zu %o %n", &file.bytes, &mode, &at) != 2 || !at || !line[at])
        return mend_fail(MEND_ERR_FORMAT, "\"%s\" is not a line of a dataset's record", line);
    file.mode = mode & 0777;
    file.name = strdup(line + at);
    struct scr_file *more = realloc(client->files, (size_t)(client->file_count + 1) * sizeof *more);
    if (more)
        client->files = more;
    if (!more || !file.name) {
        free(file.name);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the record of a dataset");
    }
    client->files[client->file_count++] = file;
    return MEND_OK;
}

static int parse(struct scr_client *client, char *text)
{
    int code = MEND_OK, flags = -1;
    client->name[0] = '\0';
    for (char *rest = text, *line; !code && (line = strsep(&rest, "\n")) && (rest || *line);) {
        if (strncmp(line, "name ", 5) == 0 && mend_scr_is_name(line + 5))
            strcpy(client->name, line + 5);
        else if (strncmp(line, "flags ", 6) == 0)
            flags = atoi(line + 6);
        else if (strncmp(line, "file ", 5) == 0)
            code = add_file(client, line);
        else if (strcmp(line, "scr 1") != 0)
            code = mend_fail(MEND_ERR_FORMAT, "\"%s\" is not a line of a dataset's record", line);
    }
    if (!code && (!client->name[0] || flags < 0))
        code = mend_fail(MEND_ERR_FORMAT, "the record of a dataset has no name");
    client->flags = flags;
    return code;
}

int mend_scr_record_read(struct scr_client *client)
{
    size_t bytes;
    mend_scr_remove_files(client);
    int code = mend_store_saved_size(client->store, SCR_RECORD_ID, &bytes);
    if (!code && bytes > RECORD_LIMIT)
        code = mend_fail(MEND_ERR_FORMAT, "the record of a dataset has %zu bytes", bytes);
    char *text = code ? NULL : calloc(1, bytes + 1);
    if (!code && !text)
        code = mend_fail(MEND_ERR_NO_MEMORY, "no memory for the record of a dataset");
    if (!code)
        code = mend_store_read(client->store, SCR_RECORD_ID, 0, text, bytes);
    if (!code)
        code = parse(client, text);
    free(text);
    return code;
}
