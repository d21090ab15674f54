/* completion.c - the ways to complete a message: what is in the status, of nothing, of one, of several, of some that
 * fail; whose error handler hears of it. Each rank speaks with itself: the order of events is always the same.
 */
#include "conform.h"

static MPI_Comm self;
static int data[4] = {1, 2, 3, 4}, room[16];

/* A message to ourselves: the receive has room for `expected` numbers, and four are sent. */
static void pair(int tag, int expected, MPI_Request *receive)
{
    MPI_Request send;
    MPI_Irecv(room, expected, MPI_INT, 0, tag, self, receive);
    MPI_Isend(data, 4, MPI_INT, 0, tag, self, &send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
}
static void pairs(MPI_Request *q) /* the third of four fails, the last is none */
{
    for (int i = 0; i < 3; i++)
        pair(20 + i, i == 2 ? 2 : 4, &q[i]);
    q[3] = MPI_REQUEST_NULL;
}
static void say_all(const char *what, int rc, int n, MPI_Status *s, MPI_Request *q)
{
    say("%s: %s", what, name_of(rc));
    for (int i = 0; i < n; i++)
        say_status(what, 0, &s[i]);
    for (int i = 0; q && i < 4; i++)
        say("%s: request %d is %s", what, i, q[i] == MPI_REQUEST_NULL ? "null" : "not null");
}

static void one(void)
{
    MPI_Request q;
    MPI_Message m;
    MPI_Status s = FRESH;
    int flag = -1, index = -1, n = -1;
    MPI_Isend(data, 4, MPI_INT, 0, 1, self, &q);
    say_status("Probe", MPI_Probe(0, 1, self, &s), &s);
    s = FRESH;
    say_status("Iprobe", MPI_Iprobe(0, 1, self, &flag, &s), &s);
    s = FRESH;
    say_status("Iprobe of nothing", MPI_Iprobe(0, 999, self, &flag, &s), &s);
    s = FRESH;
    say_status("Recv", MPI_Recv(room, 4, MPI_INT, 0, 1, self, &s), &s);
    MPI_Get_count(&s, MPI_INT, &n);
    say("count %d", n);
    s = FRESH;
    CALL(MPI_Wait(&q, &s)); /* nothing is said of a send */
    say("error %s", s.MPI_ERROR == UNTOUCHED ? "untouched" : name_of(s.MPI_ERROR));
    pair(2, 4, &q);
    s = FRESH;
    say_status("Request_get_status", MPI_Request_get_status(q, &flag, &s), &s);
    s = FRESH;
    say_status("Wait", MPI_Wait(&q, &s), &s);
    pair(3, 4, &q);
    for (flag = 0; !flag;) {
        s = FRESH;
        MPI_Test(&q, &flag, &s);
    }
    say_status("Test", 0, &s);
    pair(4, 4, &q);
    s = FRESH;
    say_status("Waitany", MPI_Waitany(1, &q, &index, &s), &s);
    pair(5, 4, &q);
    for (flag = 0; !flag;) {
        s = FRESH;
        MPI_Testany(1, &q, &index, &flag, &s);
    }
    say_status("Testany", 0, &s);
    MPI_Isend(data, 4, MPI_INT, 0, 6, self, &q);
    s = FRESH;
    say_status("Mprobe", MPI_Mprobe(0, 6, self, &m, &s), &s);
    s = FRESH;
    say_status("Mrecv", MPI_Mrecv(room, 4, MPI_INT, &m, &s), &s);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    s = FRESH;
    say_status("Sendrecv", MPI_Sendrecv(data, 4, MPI_INT, 0, 7, room, 4, MPI_INT, 0, 7, self, &s),
               &s);
    s = FRESH;
    say_status("Sendrecv_replace", MPI_Sendrecv_replace(data, 4, MPI_INT, 0, 8, 0, 8, self, &s),
               &s);
    s = FRESH;
    say_status("Recv from nobody", MPI_Recv(room, 4, MPI_INT, MPI_PROC_NULL, 1, self, &s), &s);
    s = FRESH;
    say_status("Probe of nobody", MPI_Probe(MPI_PROC_NULL, 1, self, &s), &s);
    s = FRESH;
    say_status("Mprobe of nobody", MPI_Mprobe(MPI_PROC_NULL, 1, self, &m, &s), &s);
    s = FRESH;
    say_status("Mrecv from nobody", MPI_Mrecv(room, 4, MPI_INT, &m, &s), &s);
    MPI_Irecv(room, 4, MPI_INT, MPI_PROC_NULL, 1, self, &q);
    s = FRESH;
    say_status("Wait for nobody", MPI_Wait(&q, &s), &s);
}

static void none(void)
{
    MPI_Request q = MPI_REQUEST_NULL, idle;
    MPI_Status s = FRESH;
    int flag = -1, index = -1, count = -1;
    say_status("Wait, null", MPI_Wait(&q, &s), &s);
    s = FRESH;
    say_status("Test, null", MPI_Test(&q, &flag, &s), &s);
    s = FRESH;
    say_status("Request_get_status, null", MPI_Request_get_status(q, &flag, &s), &s);
    say("error of nothing: %d", s.MPI_ERROR == MPI_SUCCESS);
    s = FRESH;
    say_status("Waitany, null", MPI_Waitany(1, &q, &index, &s), &s);
    say("index %d", index == MPI_UNDEFINED);
    s = FRESH;
    say_status("Testany, null", MPI_Testany(1, &q, &index, &flag, &s), &s);
    say("index %d, flag %d", index == MPI_UNDEFINED, flag);
    s = FRESH;
    say_status("Waitall, null", MPI_Waitall(1, &q, &s), &s);
    s = FRESH;
    say_status("Testall, null", MPI_Testall(1, &q, &flag, &s), &s);
    s = FRESH;
    say_status("Waitsome, null", MPI_Waitsome(1, &q, &count, &index, &s), &s);
    say("count %d", count == MPI_UNDEFINED);
    CALL(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
    CALL(MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE));
    say("flag %d", flag);
    CALL(MPI_Waitany(0, NULL, &index, MPI_STATUS_IGNORE));
    say("index %d", index == MPI_UNDEFINED);
    CALL(MPI_Testany(0, NULL, &index, &flag, MPI_STATUS_IGNORE));
    say("index %d, flag %d", index == MPI_UNDEFINED, flag);
    CALL(MPI_Waitsome(0, NULL, &count, NULL, MPI_STATUSES_IGNORE));
    say("count %d", count == MPI_UNDEFINED);
    CALL(MPI_Testsome(0, NULL, &count, NULL, MPI_STATUSES_IGNORE));
    say("count %d", count == MPI_UNDEFINED);
    CALL(MPI_Startall(0, &q));
    CALL(MPI_Request_free(&q));
    CALL(MPI_Start(&q));
    CALL(MPI_Cancel(&q));
    MPI_Recv_init(room, 4, MPI_INT, 0, 9, self, &idle);
    s = FRESH;
    say_status("Wait, inactive", MPI_Wait(&idle, &s), &s);
    s = FRESH;
    say_status("Test, inactive", MPI_Test(&idle, &flag, &s), &s);
    CALL(MPI_Start(&idle));
    CALL(MPI_Start(&idle));
    CALL(MPI_Cancel(&idle));
    s = FRESH;
    CALL(MPI_Wait(&idle, &s));
    MPI_Test_cancelled(&s, &flag);
    say("cancelled %d", flag);
    CALL(MPI_Request_free(&idle));
}

static void several(void)
{
    MPI_Request q[4];
    MPI_Status s[4];
    int flag = 0, count = 0, index[4], rc;
#define FRESH_ALL                  \
    for (int i_ = 0; i_ < 4; i_++) \
    s[i_] = FRESH
    for (int i = 0; i < 4; i++)
        pair(10 + i, 4, &q[i]);
    FRESH_ALL;
    rc = MPI_Waitall(4, q, s);
    say_all("Waitall", rc, 4, s, q);
    for (int i = 0; i < 4; i++)
        pair(10 + i, 4, &q[i]);
    for (flag = 0; !flag;) {
        FRESH_ALL;
        rc = MPI_Testall(4, q, &flag, s);
    }
    say_all("Testall", rc, 4, s, q);
    pair(10, 4, &q[0]);
    FRESH_ALL;
    rc = MPI_Waitsome(1, q, &count, index, s);
    say_all("Waitsome", rc, count, s, NULL);
    pair(10, 4, &q[0]);
    do {
        FRESH_ALL;
        rc = MPI_Testsome(1, q, &count, index, s);
    } while (!count && !rc);
    say_all("Testsome", rc, count, s, NULL);
}

static void failing(void)
{
    MPI_Request q[4];
    MPI_Status s[4];
    int flag = 0, count = 0, index[4], rc, got;
    pair(20, 2, q);
    s[0] = FRESH;
    rc = MPI_Wait(q, s);
    say_status("Wait, too long", rc, s);
    pair(20, 2, q);
    do {
        s[0] = FRESH;
        rc = MPI_Test(q, &flag, s);
    } while (!rc && !flag);
    say_status("Test, too long", rc, s);
    pair(20, 2, q);
    s[0] = FRESH;
    rc = MPI_Waitany(1, q, index, s);
    say_status("Waitany, too long", rc, s);
    MPI_Isend(data, 4, MPI_INT, 0, 21, self, q);
    s[0] = FRESH;
    rc = MPI_Recv(room, 2, MPI_INT, 0, 21, self, s);
    say_status("Recv, too long", rc, s);
    MPI_Wait(q, MPI_STATUS_IGNORE);
    pairs(q);
    FRESH_ALL;
    rc = MPI_Waitall(4, q, s);
    say_all("Waitall, one fails", rc, 4, s, q);
    pairs(q);
    rc = MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
    say_all("Waitall, one fails, ignored", rc, 0, s, q);
    pairs(q);
    do {
        FRESH_ALL;
        rc = MPI_Testall(4, q, &flag, s);
    } while (!rc && !flag);
    say_all("Testall, one fails", rc, 4, s, q);
    pairs(q);
    for (got = 0; got < 3 && count != MPI_UNDEFINED; got += count) {
        FRESH_ALL;
        rc = MPI_Waitsome(4, q, &count, index, s);
        say_all("Waitsome, one fails", rc, count, s, NULL);
    }
    pairs(q);
    for (got = 0; got < 3 && count != MPI_UNDEFINED; got += count) {
        FRESH_ALL;
        do
            rc = MPI_Testsome(4, q, &count, index, s);
        while (!rc && !count);
        say_all("Testsome, one fails", rc, count, s, NULL);
    }
}

#ifndef OPEN_MPI /* 5.0 does not have them */
static void asked(void)
{
    MPI_Request q[3];
    MPI_Status s[3];
    int flag = -1, index = -1, count = -1, indices[3] = {-1, -1, -1};
    for (int i = 0; i < 3; i++)
        q[i] = MPI_REQUEST_NULL;
    CALL(MPI_Request_get_status_all(3, q, &flag, MPI_STATUSES_IGNORE));
    say("flag %d", flag);
    CALL(MPI_Request_get_status_any(3, q, &index, &flag, MPI_STATUS_IGNORE));
    say("flag %d, index %d", flag, index == MPI_UNDEFINED);
    CALL(MPI_Request_get_status_some(3, q, &count, indices, MPI_STATUSES_IGNORE));
    say("count %d", count == MPI_UNDEFINED);
    MPI_Irecv(room, 4, MPI_INT, 0, 30, self, &q[0]);
    pair(31, 4, &q[1]);
    CALL(MPI_Request_get_status_all(3, q, &flag, s));
    say("flag %d", flag);
    do
        MPI_Request_get_status_any(3, q, &index, &flag, &s[0]);
    while (!flag);
    say_status("Request_get_status_any", 0, &s[0]);
    say("index %d", index);
    CALL(MPI_Request_get_status_some(3, q, &count, indices, s));
    say("count %d, index %d", count, indices[0]);
    MPI_Send(data, 4, MPI_INT, 0, 30, self);
    do
        MPI_Request_get_status_all(3, q, &flag, s);
    while (!flag);
    say_status("Request_get_status_all", 0, &s[0]);
    say_status("Request_get_status_all", 0, &s[1]);
    CALL(MPI_Request_get_status_all(0, NULL, &flag, MPI_STATUSES_IGNORE));
    FAILS(MPI_Request_get_status_all(-1, q, &flag, s));
    CALL(MPI_Waitall(3, q, MPI_STATUSES_IGNORE));
}
#endif

static void heard(MPI_Comm *c, int *code, ...)
{
    say("the handler of %s hears %s", *c == self ? "the communicator" : "another one",
        name_of(*code));
}

void part_completion(void)
{
    MPI_Errhandler handler;
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
    one();
    none();
    several();
    failing();
#ifndef OPEN_MPI
    asked();
#endif
    MPI_Comm_create_errhandler(heard, &handler);
    MPI_Comm_set_errhandler(self, handler);
    failing();
    CALL(MPI_Send(data, 1, MPI_INT, 7, 0, self));
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&self);
}
