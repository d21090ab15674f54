/* The machines of a job, and which rank runs where. */
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

/* Parse NAME[:SLOTS],… If a name appears twice, its slots add up. False: the list is not valid. */
bool hosts_add_list(struct hosts *hosts, const char *list);
/* Parse one NAME [slots=N] a line; # starts a comment. Modifies the text. False: the text is not valid, or names no
 * machine. */
bool hosts_add_text(struct hosts *hosts, char *text);
/* The same from a file. False with errno: the file cannot be read. False with errno 0: it is not valid. */
bool hosts_add_file(struct hosts *hosts, const char *path);
/* Append a machine, even if the name is already in the list. Returns its number. */
uint32_t hosts_append(struct hosts *hosts, const char *name, uint32_t slots);
void hosts_remove(struct hosts *hosts, const char *name);
bool hosts_is_here(const char *name);
/* Each machine in turn gets as many ranks as it has slots; the rest go round robin. Returns [ranks], which the caller
 * frees. */
uint32_t *hosts_place(const struct hosts *hosts, uint32_t ranks);
void hosts_free(struct hosts *hosts);
#endif
