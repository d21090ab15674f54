/* border/prefix.h - "ufs:/data/x": the name of a file with the file system that ROMIO takes it for. Other colons belong to the
 * name. */
#ifndef CAPSULE_PREFIX_H
#define CAPSULE_PREFIX_H
#include <string.h>
#include <strings.h>

static inline const char *after_prefix(const char *name)
{
    static const char *const known[] = {
        "ufs:",  "nfs:",   "xfs:",    "pfs:", "pvfs:", "pvfs2:",     "lustre:",
        "gpfs:", "panfs:", "testfs:", "ime:", "daos:", "quobytefs:", "unifyfs:"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strncasecmp(name, known[i], strlen(known[i])))
            return name + strlen(known[i]);
    return name;
}
#endif
