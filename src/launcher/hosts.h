/* On which machines, and which rank where. */
#ifndef MEND_LAUNCHER_HOSTS_H
#define MEND_LAUNCHER_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

enum { HOSTS_SLOTS_MAX = 65536 };

struct hosts {
    char **name; /* [count], NULL at the end */
    uint32_t *slots;
    uint32_t count;
};

/* NAME[:SLOTS],…; the same name twice: its slots are added. False: not such a list. */
bool hosts_add_list(struct hosts *hosts, const char *list);
/* NAME [slots=N] a line, # starts a comment; the text is cut up. False: not such a text, or nobody in it. */
bool hosts_add_text(struct hosts *hosts, char *text);
/* The same from a file. False: cannot be read, or not such a file; errno 0 for the latter. */
bool hosts_add_file(struct hosts *hosts, const char *path);
/* One more, also if that name is there. Its number. */
uint32_t hosts_append(struct hosts *hosts, const char *name, uint32_t slots);
void hosts_remove(struct hosts *hosts, const char *name);
bool hosts_is_here(const char *name);
/* Each machine gets as many as it has slots, in order; those that are left go round. [ranks], the caller's. */
uint32_t *hosts_place(const struct hosts *hosts, uint32_t ranks);
void hosts_free(struct hosts *hosts);
#endif
