/* What goes wrong at a step of cuCheckpointProcess… in the stand-in.
 *
 * MEND_FAKE_FAULTS names a folder. A file in it with the name of a step (state, lock, checkpoint, restore, unlock) holds
 *
 *     WHO before    that process is killed before the step
 *     WHO after     after it, before the answer is known
 *     WHO hang      it stops for ever before the step
 *     WHO NUMBER    the step fails with this error
 *
 * where WHO is asker (the helper) or owner (the process that uses the driver). It happens once: who removes the file does
 * it (an owner that goes back to a version gets the file back that it has removed since). With "always" in front of it the file
 * stays. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_checkpoint.h"

static const char *name_of(char step)
{
    switch (step) {
    case 's': return "state";
    case 'l': return "lock";
    case 'c': return "checkpoint";
    case 'r': return "restore";
    default: return "unlock";
    }
}

/* 1: it is for us, and nobody else has taken it; what, into `what`. */
static int claim(const char *who, char step, int after, char what[40])
{
    const char *folder = getenv("MEND_FAKE_FAULTS");
    char path[4200], text[80] = "";
    if (!folder)
        return 0;
    snprintf(path, sizeof path, "%s/%s", folder, name_of(step));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, text, sizeof text - 1) < 0)
        text[0] = 0;
    if (fd >= 0)
        close(fd);
    text[strcspn(text, "\n")] = 0;
    int always = !strncmp(text, "always ", 7);
    const char *rest = text + (always ? 7 : 0);
    size_t n = strlen(who);
    if (strncmp(rest, who, n) != 0 || rest[n] != ' ' ||
        (strcmp(rest + n + 1, "after") == 0) != after)
        return 0;
    snprintf(what, 40, "%s", rest + n + 1);
    return always || unlink(path) == 0;
}

int fault_before(const char *who, char step)
{
    char what[40];
    if (!claim(who, step, 0, what))
        return 0;
    if (!strcmp(what, "before"))
        kill(getpid(), SIGKILL);
    while (!strcmp(what, "hang"))
        pause();
    return atoi(what);
}

void fault_after(const char *who, char step)
{
    char what[40];
    if (claim(who, step, 1, what))
        kill(getpid(), SIGKILL);
}
