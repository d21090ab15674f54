/* Host files and host lists: whatever the text, every machine in the list has a name that a shell may see and some
 * slots, none is there twice, and every rank gets a machine that exists. */
#include "../../src/launcher/hosts.h"
#include "../../src/launcher/wire.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void *launcher_memory(void *old, size_t size)
{
    void *memory = realloc(old, size ? size : 1);
    if (!memory)
        abort();
    return memory;
}

static void check(struct hosts *h)
{
    for (uint32_t i = 0; i < h->count; i++) {
        if (!h->name[i][0] || h->name[i][0] == '-' || strpbrk(h->name[i], " \t\n\"'$`;&|<>()") ||
            h->slots[i] < 1)
            abort();
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(h->name[i], h->name[j]) == 0)
                abort();
    }
    if (h->name && h->name[h->count])
        abort();
    uint32_t ranks = h->count < 1000 ? 2 * h->count + 1 : 10;
    uint32_t *node_of = hosts_place(h, ranks);
    for (uint32_t r = 0; r < ranks; r++)
        if (node_of[r] >= h->count)
            abort();
    free(node_of);
    while (h->count)
        hosts_remove(h, h->name[h->count / 2]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    struct hosts list = {0}, file = {0};
    if (hosts_add_list(&list, text) && list.count)
        check(&list);
    if (hosts_add_text(&file, text))
        check(&file);
    hosts_free(&list);
    hosts_free(&file);
    free(text);
    return 0;
}
