#include "pmi/space.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pair {
    char *key, *value;
};

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct pair *)a)->key, ((const struct pair *)b)->key);
}

static char *copy(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(launcher_memory(NULL, size), text, size);
}

const char *pmi_find(const struct pmi_space *s, const char *key)
{
    struct pair wanted = {(char *)key, NULL};
    struct pair *const *found = tfind(&wanted, &s->pairs, by_key);
    return found ? (*found)->value : NULL;
}

void pmi_keep(struct pmi_space *s, const char *key, const char *value)
{
    struct pair *one = launcher_memory(NULL, sizeof *one);
    *one = (struct pair){copy(key), copy(value)};
    struct pair *const *at = tsearch(one, &s->pairs, by_key);
    if (!at) {
        fputs("mend-node: out of memory\n", stderr);
        _exit(1);
    }
    if (*at == one)
        return;
    free((*at)->value); /* it was there before */
    (*at)->value = one->value;
    free(one->key);
    free(one);
}

static void free_pair(void *one)
{
    struct pair *p = one;
    free(p->key);
    free(p->value);
    free(p);
}

void pmi_forget(struct pmi_space *s)
{
    tdestroy(s->pairs, free_pair);
    s->pairs = NULL;
}

/* Groups consecutive nodes that have the same number of consecutive ranks. */
void pmi_mapping(const struct job *job, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "(vector");
    for (uint32_t r = 0; r < job->ranks && used < size;) {
        uint32_t first = job->node_of[r], nodes = 0, each = 0, length;
        for (;;) {
            for (length = 0; r + length < job->ranks && job->node_of[r + length] == first + nodes;)
                length++;
            if (length == 0 || (nodes > 0 && length != each))
                break;
            each = length;
            r += length;
            nodes++;
        }
        used += (size_t)snprintf(text + used, size - used, ",(%u,%u,%u)", first, nodes, each);
    }
    if (used + 2 > size)
        text[0] = 0;
    else
        strcpy(text + used, ")");
}

bool pmi_field(const char *line, const char *key, bool last, char *value, size_t size)
{
    size_t length = strlen(key);
    for (const char *at = line; (at = strstr(at, key)); at++) {
        if ((at > line && at[-1] != ' ') || at[length] != '=')
            continue;
        at += length + 1;
        size_t end = last ? strlen(at) : strcspn(at, " ");
        if (end >= size)
            return false;
        memcpy(value, at, end);
        value[end] = 0;
        return true;
    }
    return false;
}
