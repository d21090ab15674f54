#include <errno.h>
#include <limits.h>
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
static struct seat *seat_ranks(const struct home *homes, int size, int *largest)
{
    struct seat *seats = malloc((size_t)size * sizeof *seats);
    if (!seats)
        return NULL;
    for (int r = 0; r < size; r++)
        seats[r] = (struct seat){homes[r].domain, r};
    qsort(seats, (size_t)size, sizeof *seats, compare_seats);
    *largest = 1;
    for (int i = 1, run = 1; i < size; i++) {
        run = strcmp(seats[i].domain, seats[i - 1].domain) == 0 ? run + 1 : 1;
        if (run > *largest)
            *largest = run;
    }
    return seats;
}

/* In the sorted ring, the partner is as many seats ahead as the largest domain has ranks, because two ranks of one
 * domain are less than that apart. This works if no domain has more than half of the ranks; otherwise as many as
 * possible are apart. */
void placement_partners(const struct home *homes, int size, int *partner, bool *apart)
{
    int largest = 1;
    struct seat *seats = seat_ranks(homes, size, &largest);

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

/* With G groups, group j has the sorted seats j, j+G, j+2G, ... Ranks of one domain are adjacent, so they are in
 * different groups if no domain has more than G ranks. */
void placement_groups(const struct home *homes, int size, int k, int m, int rank,
                      struct group *group, bool *apart)
{
    int largest = 1, wanted = k + m < GROUP_MAX ? k + m : GROUP_MAX;
    struct seat *seats = seat_ranks(homes, size, &largest);

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

int placement_make(struct placement *placement, struct home *homes, int rank, int size, int k,
                   int m)
{
    int *partner = malloc((size_t)size * sizeof *partner);
    if (!partner)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d ranks", size);
    placement->homes = homes;
    placement_partners(homes, size, partner, &placement->partner_apart);
    placement->partner = partner[rank];
    placement->holds = -1;
    for (int r = 0; r < size; r++)
        if (partner[r] == rank)
            placement->holds = r;
    free(partner);
    placement_groups(homes, size, k, m, rank, &placement->group, &placement->group_apart);

    placement->folder_peers = placement->folder_index = 0;
    for (int r = 0; r < size; r++) {
        if (strcmp(homes[r].domain, homes[rank].domain) != 0 ||
            homes[r].folder_inode != homes[rank].folder_inode ||
            homes[r].folder_device != homes[rank].folder_device)
            continue;
        placement->folder_index += r < rank;
        placement->folder_peers++;
    }
    return 0;
}

/* Read one row, without its comment: RANK DOMAIN, or nothing. Returns 1 if it is for this rank, 0 if not, -1 if it
 * has another form. */
static int read_row(const char *row, size_t length, int rank, char domain[DOMAIN_SIZE])
{
    static const char blank[] = " \t\r";
    char text[DOMAIN_SIZE + 64], *end = NULL;
    if (length >= sizeof text || memchr(row, 0, length))
        return -1;
    memcpy(text, row, length);
    text[length] = 0;
    char *at = text + strspn(text, blank);
    if (!*at)
        return 0;
    errno = 0;
    long number = strtol(at, &end, 10);
    if (end == at || errno || number < 0 || number > INT_MAX || !strchr(blank, *end) || !*end)
        return -1;
    at = end + strspn(end, blank);
    size_t word = strcspn(at, blank);
    if (word == 0 || word >= DOMAIN_SIZE || at[word + strspn(at + word, blank)])
        return -1;
    if (number != rank)
        return 0;
    memcpy(domain, at, word);
    domain[word] = 0;
    return 1;
}

int placement_domain_from_text(const char *path, const char *text, size_t size, int rank,
                               char domain[DOMAIN_SIZE])
{
    const char *at = text, *end = text + size;
    for (int line = 1; at < end; line++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((next ? next : end) - at);
        const char *comment = memchr(at, '#', length);
        int found = read_row(at, comment ? (size_t)(comment - at) : length, rank, domain);
        if (found < 0)
            return mend_fail(MEND_ERR_CONFIG, "%s:%d: not a line of the form RANK DOMAIN", path,
                             line);
        if (found)
            return 0;
        at = next ? next + 1 : end;
    }
    return mend_fail(MEND_ERR_CONFIG, "%s has no line for rank %d", path, rank);
}

int placement_domain_from_file(const char *path, int rank, char domain[DOMAIN_SIZE])
{
    char *text = NULL;
    size_t size = 0;
    int rc = mend_io_read_input(path, 1 << 24, &text, &size);
    if (rc == 0)
        rc = placement_domain_from_text(path, text, size, rank, domain);
    free(text);
    return rc;
}
