/* The FTI face: ids by name. The names travel with the checkpoints, so that the next run finds the same ids. */
#include "client.h"

#include <base/fail.h>
#include <fti.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_ID = INT_MIN + 1, NAMES_LIMIT = 1 << 20 };

static const struct fti_name *find(const struct fti_client *client, const char *text)
{
    for (int i = 0; i < client->name_count; i++)
        if (strcmp(client->names[i].text, text) == 0)
            return &client->names[i];
    return NULL;
}

static bool is_taken(struct fti_client *client, int id)
{
    bool taken = mend_fti_find(client, id) != NULL;
    for (int i = 0; i < client->name_count && !taken; i++)
        taken = client->names[i].id == id;
    return taken;
}

static int add(struct fti_client *client, int id, const char *text)
{
    struct fti_name *more = realloc(client->names, (size_t)(client->name_count + 1) * sizeof *more);
    char *copy = strdup(text);
    if (more)
        client->names = more;
    if (!more || !copy) {
        free(copy);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the name %s", text);
    }
    struct fti_name *name = &client->names[client->name_count++];
    name->id = id;
    name->text = copy;
    return MEND_OK;
}

int FTI_setIDFromString(const char *name)
{
    struct fti_client *client = mend_fti_client();
    int code = client ? MEND_OK : MEND_ERR_STATE, id = 0;
    if (!code && (!name || !*name || strchr(name, '\n')))
        code = mend_fail(MEND_ERR_ARGUMENT, "FTI_setIDFromString needs a name of one line");
    const struct fti_name *known = code ? NULL : find(client, name);
    if (known)
        return known->id;
    while (!code && is_taken(client, id))
        id++;
    if (!code)
        code = add(client, id, name);
    return mend_fti_result(code) == FTI_SCES ? id : FTI_NSCS;
}

int FTI_getIDFromString(const char *name)
{
    struct fti_client *client = mend_fti_client();
    const struct fti_name *known = client && name ? find(client, name) : NULL;
    if (known)
        return known->id;
    if (client)
        mend_fail(MEND_ERR_REGION, "no variable has the name %s", name ? name : "NULL");
    return mend_fti_result(client ? MEND_ERR_REGION : MEND_ERR_STATE);
}

/* ---- in the checkpoints: a line "ID NAME" for each ------------------------------------------- */

int mend_fti_names_put(struct fti_client *client)
{
    char *text = NULL;
    size_t size = 0;
    if (client->name_count == 0)
        return MEND_OK;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; out && i < client->name_count; i++)
        fprintf(out, "%d %s\n", client->names[i].id, client->names[i].text);
    if (!out || fclose(out))
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the names of variables");
    int code = mend_store_region(client->store, NAMES_ID, "names", text, size);
    if (code) {
        free(text);
        return code;
    }
    free(client->name_text);
    client->name_text = text;
    return MEND_OK;
}

int mend_fti_names_get(struct fti_client *client)
{
    size_t size;
    if (mend_store_saved_size(client->store, NAMES_ID, &size) != MEND_OK)
        return MEND_OK; /* the program used none */
    char *text = size <= NAMES_LIMIT ? calloc(1, size + 1) : NULL;
    if (!text)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %zu bytes of names", size);
    int code = mend_store_read(client->store, NAMES_ID, 0, text, size);
    for (char *rest = text, *line; !code && (line = strsep(&rest, "\n")) && *line;) {
        char *name;
        long id = strtol(line, &name, 10);
        if (*name == ' ' && name[1])
            code = add(client, (int)id, name + 1);
    }
    free(text);
    return code;
}

void mend_fti_names_free(struct fti_client *client)
{
    for (int i = 0; i < client->name_count; i++)
        free(client->names[i].text);
    free(client->names);
    free(client->name_text);
}
