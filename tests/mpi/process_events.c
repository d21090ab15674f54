/* The events of one recovery, in their order, with times that fit together: what a report and a
 * benchmark break down. Each survivor keeps its own; rank 1 dies, the spare takes its place. */
#include "process_test.h"

#include <base/event.h>

enum { LINES = 200 };
static char lines[LINES][400];
static int n_lines;

static void keep(const char *line, void *arg)
{
    (void)arg;
    if (n_lines < LINES)
        snprintf(lines[n_lines++], sizeof lines[0], "%s", line);
}

/* The number after "key": in a line; -1e9: there is none. */
static double number(const char *line, const char *key)
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, "\"%s\":", key);
    const char *at = line ? strstr(line, pattern) : NULL;
    return at ? strtod(at + strlen(pattern), NULL) : -1e9;
}

static const char *find(int *from, const char *event)
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, "\"event\":\"%s\"", event);
    for (; *from < n_lines; ++*from)
        if (strstr(lines[*from], pattern))
            return lines[(*from)++];
    return NULL;
}

static void check_survivor(const mend_repair *now)
{
    int at = 0;
    const char *start = find(&at, "process.start"), *detect = find(&at, "process.detect"),
               *revoke = find(&at, "process.revoke"), *agree = find(&at, "process.agree"),
               *repair = find(&at, "process.repair"), *resume = find(&at, "process.resume");
    EXPECT(start && detect && revoke && agree && repair && resume);
    EXPECT(number(start, "size") == 4 && number(start, "spares") == 1);
    EXPECT(number(detect, "generation") == 0 && number(detect, "mpi_code") > 0);
    EXPECT(number(revoke, "communicators") == 3 && number(revoke, "seconds") >= 0);
    double shrink = number(agree, "shrink"), act = number(agree, "act"),
           agreed = number(agree, "agree"), whole = number(repair, "seconds");
    EXPECT(shrink >= 0 && act >= 0 && agreed >= 0 && whole >= 0);
    EXPECT(number(agree, "vote") == 3 && number(agree, "processes") == 4);
    EXPECT(number(repair, "generation") == 1 && number(repair, "failed") == 1);
    EXPECT(strstr(repair, "\"policy\":\"spare\""));
    /* the parts of a repair make up the whole, and the whole lies between detection and resumption */
    EXPECT(number(repair, "attempts") > 1 || shrink + act + agreed <= whole + 1e-3);
    EXPECT(number(resume, "generation") == 1 && number(resume, "callbacks") >= 0);
    EXPECT(number(resume, "since_detection") + 1e-3 >= whole);
    EXPECT(number(detect, "t") <= number(revoke, "t") && number(revoke, "t") <= number(agree, "t"));
    EXPECT(number(agree, "t") <= number(repair, "t") && number(repair, "t") <= number(resume, "t"));
    EXPECT(now->detected <= now->repaired);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    mend_event_set_callback(keep, NULL);
    mend_process *p;
    mend_process_options options = {.spares = test_spares(), .resume = MEND_RESUME_JUMP};
    EXPECT(mend_process_open(MPI_COMM_WORLD, &options, &p) == 0);
    EXPECT(mend_process_resume_here(p) == 0);
    const mend_repair *now = mend_process_state(p);
    if (now->role != MEND_ROLE_RELEASED) {
        MPI_Comm copy;
        MPI_Comm_dup(now->comm, &copy); /* so that base, resilient one and this are revoked */
        if (now->generation == 0)
            test_die_as(1);
        for (int i = 0; i < 20 || now->generation == 0; i++)
            MPI_Barrier(now->comm);
        if (now->role == MEND_ROLE_SURVIVOR)
            check_survivor(now);
    }
    int rank = now->rank;
    EXPECT(mend_process_close(p) == 0);
    if (rank == 0)
        test_pass();
    mend_event_set_callback(NULL, NULL);
    MPI_Finalize();
    return 0;
}
