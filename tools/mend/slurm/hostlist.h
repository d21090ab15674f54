/* Slurm's short forms of lists: "r[1-2]n[01-03],login" for names, "4(x2),1" for numbers. */
#ifndef MEND_TOOL_HOSTLIST_H
#define MEND_TOOL_HOSTLIST_H

#include <stdbool.h>

enum { HOSTLIST_MAX = 65536 };

struct hostlist {
    char **name; /* [count] */
    int count, room;
};

/* False: not such a list, or longer than HOSTLIST_MAX. Names added before stay. */
bool hostlist_expand(const char *text, struct hostlist *list);
void hostlist_free(struct hostlist *list);
/* The numbers of "4(x2),1" into value[0..count); the last number of a shorter list repeats. False: not such a
 * list. */
bool hostlist_numbers(const char *text, int *value, int count);

#endif
