/* The reader of topology files, and who helps whom in what it says: whatever the text, every rank has
 * one partner and is one's partner, every rank is in one group, and "apart" is never a lie. */
#include "../../src/store/internal.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS = 40 };

static void check_partners(const struct home *homes, int size)
{
    int partner[RANKS], held[RANKS] = {0};
    bool apart = false;
    placement_partners(homes, size, partner, &apart);
    for (int r = 0; r < size; r++) {
        if (size < 2 ? partner[r] != -1 : partner[r] < 0 || partner[r] >= size || partner[r] == r)
            abort();
        if (size < 2)
            continue;
        held[partner[r]]++;
        if (apart && strcmp(homes[r].domain, homes[partner[r]].domain) == 0)
            abort();
    }
    for (int r = 0; size >= 2 && r < size; r++)
        if (held[r] != 1)
            abort();
}

static void check_groups(const struct home *homes, int size, int k, int m)
{
    for (int r = 0; r < size; r++) {
        struct group group;
        bool apart = false, in = false;
        placement_groups(homes, size, k, m, r, &group, &apart);
        if (group.size < 1 || group.size > GROUP_MAX || group.parity < 0 ||
            group.parity >= group.size || group.member[group.index] != r)
            abort();
        for (int i = 0; i < group.size; i++) {
            if (group.member[i] < 0 || group.member[i] >= size)
                abort();
            in |= group.member[i] == r;
            for (int j = 0; j < i; j++)
                if (group.member[i] == group.member[j] ||
                    (apart &&
                     strcmp(homes[group.member[i]].domain, homes[group.member[j]].domain) == 0))
                    abort();
        }
        if (!in)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct home homes[RANKS] = {0};
    if (size < 3)
        return 0;
    int ranks = data[0] % RANKS + 1, k = data[1] % 12 + 1, m = data[2] % 5;
    for (int r = 0; r < ranks; r++) {
        int rc = placement_domain_from_text("topology", (const char *)data + 3, size - 3, r,
                                            homes[r].domain);
        if (rc == 0 && (homes[r].domain[0] == 0 || strlen(homes[r].domain) >= DOMAIN_SIZE ||
                        strpbrk(homes[r].domain, " \t\r\n#")))
            abort();
        if (rc)
            homes[r].domain[0] = 0; /* nowhere: all such ranks are in one place */
    }
    check_partners(homes, ranks);
    check_groups(homes, ranks, k, m);
    return 0;
}
