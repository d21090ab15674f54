/* round/silence.c - a rank that is stopped, or whose node stands still, lives but answers nobody: no death is noticed,
 * and all others wait.
 *
 *   1. Every quarter of capsule.silence (at most every 5 s) the coordinator asks each agent whether it is there. An agent
 *      answers for a rank that computes or waits, whatever it does. One question at a time: an agent that does not read
 *      must not block the coordinator's writes.
 *   2. No answer for capsule.silence: rank.silent names the rank, once; rank.answers takes it back.
 *   3. The coordinator itself shows that it is there by the time of DIR/pulse, which `mend run` watches: so it notices
 *      a silent rank 0. Without a coordinator (a recovery, the end) there is no file.
 */
#include "ground/settings.h"
#include "round/coordinator.h"

#include <base/event.h>
#include <base/io.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void pulse_path(char *path, size_t size)
{
    snprintf(path, size, "%s/pulse", settings.dir);
}

static void show_pulse(void)
{
    char path[4300];
    pulse_path(path, sizeof path);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return; /* then nobody judges us by it */
    futimens(fd, NULL);
    close(fd);
}

void silence_begin(void)
{
    the.pulse_at = seconds_now();
    if (settings.dir[0] && settings.silence > 0)
        show_pulse();
}

void silence_end(void)
{
    char path[4300];
    pulse_path(path, sizeof path);
    if (settings.dir[0] && settings.silence > 0)
        unlink(path);
}

static void ask(int rank, double now)
{
    struct member *m = &the.member[rank];
    if (m->fd < 0 || m->bye)
        return;
    if (m->asked_at <= 0) {
        m->asked_at = now;
        tell(rank, CONTROL_ASK, NULL, 0);
    } else if (now - m->asked_at > settings.silence && !m->silent) {
        m->silent = 1;
        mend_event("rank.silent", ev_int("who", rank), ev_real("seconds", now - m->asked_at));
    }
}

void silence_pass(double now)
{
    double turn = settings.silence / 4 < 5 ? settings.silence / 4 : 5,
           missed = now - the.pulse_at - turn;
    if (settings.silence <= 0 || now - the.pulse_at < turn)
        return;
    if (missed > turn) /* we stood still ourselves: nobody else was silent */
        for (int i = 0; i < the.ranks; i++)
            the.member[i].asked_at += the.member[i].asked_at > 0 ? missed : 0;
    the.pulse_at = now;
    if (settings.dir[0])
        show_pulse();
    if (the.state == SAVING && the.save.background)
        return; /* in MPI_Finalize an agent waits for its file */
    for (int i = 0; i < the.ranks; i++)
        ask(i, now);
}

void silence_broken(int rank)
{
    struct member *m = &the.member[rank];
    if (m->silent)
        mend_event("rank.answers", ev_int("who", rank),
                   ev_real("seconds", seconds_now() - m->asked_at));
    m->asked_at = 0;
    m->silent = 0;
}
