/* INI files by libinih, with line numbers (Debian's build of it gives none). */
#ifndef BASE_INI_H
#define BASE_INI_H

#include <stddef.h>

/* Called for every entry. Returns MEND_OK or a code, which ends the reading. A section without
 * entries is not reported. */
typedef int mend_ini_entry(void *user, const char *section, const char *name, const char *value,
                           int line);

/* Read a file (regular, of this user, at most 1 MiB) or a text. MEND_ERR_CONFIG with "file:line"
 * for a line that does not parse; else the callback's code. */
int mend_ini_read(const char *path, mend_ini_entry *entry, void *user);
int mend_ini_read_text(const char *text, const char *path_for_messages, mend_ini_entry *entry,
                       void *user);

#endif
