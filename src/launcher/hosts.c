#include "hosts.h"

#include "wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HOSTS_MAX = 65536 };

/* A remote shell, or a terminal that prints the name, cannot take any of these for more than a letter. */
static const char name_letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:@%";

static uint32_t append(struct hosts *h, const char *name, size_t length, uint32_t slots)
{
    h->name = launcher_memory(h->name, (h->count + 2) * sizeof *h->name);
    h->slots = launcher_memory(h->slots, (h->count + 1) * sizeof *h->slots);
    char *copy = launcher_memory(NULL, length + 1);
    memcpy(copy, name, length);
    copy[length] = 0;
    h->name[h->count] = copy;
    h->slots[h->count] = slots;
    h->name[++h->count] = NULL;
    return h->count - 1;
}

uint32_t hosts_append(struct hosts *h, const char *name, uint32_t slots)
{
    return append(h, name, strlen(name), slots);
}

static bool add(struct hosts *h, const char *name, size_t length, const char *slots)
{
    char *end;
    long n = slots ? strtol(slots, &end, 10) : 1;
    if (length == 0 || length > 255 || name[0] == '-' || n < 1 || n > HOSTS_SLOTS_MAX ||
        (slots && (end == slots || *end)) || strspn(name, name_letters) < length)
        return false;
    for (uint32_t i = 0; i < h->count; i++)
        if (strlen(h->name[i]) == length && strncmp(h->name[i], name, length) == 0) {
            uint32_t room = HOSTS_SLOTS_MAX - h->slots[i]; /* more would make no difference */
            h->slots[i] += (uint32_t)n < room ? (uint32_t)n : room;
            return true;
        }
    if (h->count == HOSTS_MAX)
        return false;
    append(h, name, length, (uint32_t)n);
    return true;
}

bool hosts_add_list(struct hosts *h, const char *list)
{
    char *copy = strdup(list), *rest = copy;
    bool ok = copy != NULL;
    for (char *word; ok && (word = strsep(&rest, ","));) {
        char *slots = strchr(word, ':');
        if (slots)
            *slots++ = 0;
        ok = add(h, word, strlen(word), slots);
    }
    free(copy);
    return ok;
}

bool hosts_add_text(struct hosts *h, char *text)
{
    bool ok = true;
    for (char *line; ok && (line = strsep(&text, "\n"));) {
        line[strcspn(line, "#")] = 0;
        char *rest = NULL, *slots = NULL, *name = strtok_r(line, " \t\r", &rest), *word;
        while (name && (word = strtok_r(NULL, " \t\r", &rest)))
            if (strncmp(word, "slots=", 6) == 0)
                slots = word + 6;
        ok = !name || add(h, name, strlen(name), slots);
    }
    return ok && h->count > 0;
}

bool hosts_add_file(struct hosts *h, const char *path)
{
    char *text = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    ssize_t size = getdelim(&text, &room, 0, f); /* to the end: a text has no zero bytes */
    bool ok = size >= 0 && strlen(text) == (size_t)size && hosts_add_text(h, text);
    int error = ferror(f) ? errno : 0;
    fclose(f);
    free(text);
    errno = error;
    return ok;
}

void hosts_remove(struct hosts *h, const char *name)
{
    for (uint32_t i = 0; i < h->count; i++)
        if (strcmp(h->name[i], name) == 0) {
            free(h->name[i]);
            memmove(h->name + i, h->name + i + 1, (h->count - i) * sizeof *h->name);
            memmove(h->slots + i, h->slots + i + 1, (h->count - i - 1) * sizeof *h->slots);
            h->count--;
            return;
        }
}

bool hosts_is_here(const char *name)
{
    char here[256] = "";
    gethostname(here, sizeof here - 1);
    size_t bare = strcspn(here, ".");
    return strcmp(name, here) == 0 || strcmp(name, "localhost") == 0 ||
           strcmp(name, "127.0.0.1") == 0 || (strlen(name) == bare && !strncmp(name, here, bare));
}

uint32_t *hosts_place(const struct hosts *h, uint32_t ranks)
{
    uint32_t *node_of = launcher_memory(NULL, ranks * sizeof *node_of), r = 0;
    for (uint32_t n = 0; n < h->count; n++)
        for (uint32_t s = 0; s < h->slots[n] && r < ranks; s++)
            node_of[r++] = n;
    for (uint32_t n = 0; r < ranks; n = n + 1 < h->count ? n + 1 : 0)
        node_of[r++] = n;
    return node_of;
}

void hosts_free(struct hosts *h)
{
    for (uint32_t i = 0; i < h->count; i++)
        free(h->name[i]);
    free(h->name);
    free(h->slots);
    *h = (struct hosts){0};
}
