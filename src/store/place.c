#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Ranks sorted by domain, then rank. */
struct seat {
    const char *domain;
    int rank;
};

static int compare_seats(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;
    int c = strcmp(x->domain, y->domain);
    return c ? c : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Seats of all ranks; *largest = ranks in the largest domain. */
static struct seat *seat_ranks(const struct card *cards, int size, int *largest)
{
    struct seat *seats = malloc((size_t)size * sizeof *seats);
    if (!seats)
        return NULL;
    for (int r = 0; r < size; r++)
        seats[r] = (struct seat){cards[r].domain, r};
    qsort(seats, (size_t)size, sizeof *seats, compare_seats);
    *largest = 1;
    for (int i = 1, run = 1; i < size; i++) {
        run = strcmp(seats[i].domain, seats[i - 1].domain) == 0 ? run + 1 : 1;
        if (run > *largest)
            *largest = run;
    }
    return seats;
}

/* In the sorted ring, the partner is as many seats ahead as the largest domain has: two ranks of
 * one domain are less than that apart. Possible if no domain has more than half of the ranks;
 * otherwise as many as can be are apart. */
void place_partners(const struct card *cards, int size, int *partner, bool *apart)
{
    int largest = 1;
    struct seat *seats = seat_ranks(cards, size, &largest);

    *apart = seats != NULL;
    for (int r = 0; r < size; r++)
        partner[r] = -1;
    if (!seats || size < 2)
        goto out;
    int shift = largest <= size / 2 ? largest : (size + 1) / 2;
    for (int i = 0; i < size; i++) {
        const struct seat *a = &seats[i], *b = &seats[(i + shift) % size];
        partner[a->rank] = b->rank;
        if (strcmp(a->domain, b->domain) == 0)
            *apart = false;
    }
out:
    free(seats);
}

/* With G groups, group j has the sorted seats j, j+G, j+2G, ...: members of one domain would be G
 * apart. So they are on different domains if no domain has more than G ranks. */
void place_groups(const struct card *cards, int size, int k, int m, int rank, struct group *group,
                  bool *apart)
{
    int largest = 1, wanted = k + m < GROUP_MAX ? k + m : GROUP_MAX;
    struct seat *seats = seat_ranks(cards, size, &largest);

    *group = (struct group){.size = 1, .member = {rank}};
    *apart = false;
    if (!seats || size < 2 || m < 1)
        goto out;
    int groups = size / wanted > 0 ? size / wanted : 1;
    if ((size + groups - 1) / groups > GROUP_MAX)
        groups++;
    int mine = 0;
    while (seats[mine].rank != rank)
        mine++;
    group->size = 0;
    for (int i = mine % groups; i < size; i += groups) {
        if (i == mine)
            group->index = group->size;
        group->member[group->size++] = seats[i].rank;
    }
    group->parity = m < group->size ? m : group->size - 1;
    *apart = largest <= groups;
out:
    free(seats);
}

int place_make(struct place *place, struct card *cards, int rank, int size, int k, int m)
{
    int *partner = malloc((size_t)size * sizeof *partner);
    if (!partner)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d ranks", size);
    place->cards = cards;
    place_partners(cards, size, partner, &place->partner_apart);
    place->partner = partner[rank];
    place->holds = -1;
    for (int r = 0; r < size; r++)
        if (partner[r] == rank)
            place->holds = r;
    free(partner);
    place_groups(cards, size, k, m, rank, &place->group, &place->group_apart);

    place->folder_peers = place->folder_index = 0;
    for (int r = 0; r < size; r++) {
        if (strcmp(cards[r].domain, cards[rank].domain) != 0 ||
            cards[r].folder_inode != cards[rank].folder_inode ||
            cards[r].folder_device != cards[rank].folder_device)
            continue;
        place->folder_index += r < rank;
        place->folder_peers++;
    }
    return 0;
}

int place_domain_from_file(const char *path, int rank, char domain[64])
{
    char *text = NULL;
    size_t size = 0;
    int line = 0, rc = mend_io_read_file(path, 1 << 24, &text, &size);

    if (rc)
        return rc;
    char *rest = text, *row;
    bool found = false;
    while (rc == 0 && !found && (row = strsep(&rest, "\n"))) {
        int r, used = 0;
        char name[64];
        line++;
        row[strcspn(row, "#")] = 0;
        if (row[strspn(row, " \t\r")] == 0)
            continue;
        if (sscanf(row, "%d %63s %n", &r, name, &used) != 2 || row[used] || r < 0)
            rc =
                mend_fail(MEND_ERR_CONFIG, "%s:%d: not a line of the form RANK DOMAIN", path, line);
        else if (r == rank) {
            memcpy(domain, name, sizeof name);
            found = true;
        }
    }
    free(text);
    if (rc == 0 && !found)
        rc = mend_fail(MEND_ERR_CONFIG, "%s has no line for rank %d", path, rank);
    return rc;
}
