/* What the launcher says is passed on byte by byte, less Open MPI's remarks about itself; whatever the pieces are in
 * which it comes. */
#include "run/start/noise.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RULE   "--------------------------------------------------------------------------\n"
#define REMARK "[host:00123] 3 more processes have sent help message help-mpi-btl.txt / one\n"
#define BLOCK                                                                     \
    RULE "The osc module ucx is not tested for post-failure operation, yet you\n" \
         "have requested support for fault tolerance.\n\n" RULE

/* Instead of the queue of errors.c: what is passed on is on standard error at once. */
void run_errors_put(const char *bytes, size_t count, bool waits)
{
    (void)waits;
    assert_int_equal(write(STDERR_FILENO, bytes, count), count);
}

struct listener {
    int out[2], saved;
};

static void listen_begins(struct listener *l)
{
    fflush(stderr);
    l->saved = dup(2);
    assert_int_equal(pipe(l->out), 0);
    dup2(l->out[1], 2);
}

static void listen_ends(struct listener *l, char *got, size_t room)
{
    size_t n = 0;
    dup2(l->saved, 2);
    close(l->saved);
    close(l->out[1]);
    for (ssize_t more; n < room - 1 && (more = read(l->out[0], got + n, room - 1 - n)) > 0;)
        n += (size_t)more;
    got[n] = 0;
    close(l->out[0]);
}

/* As the thread does it, but no moment passes between two pieces. */
static void pass(const char *text, size_t size, size_t piece, char *got, size_t room)
{
    struct noise n = {.line_start = true};
    struct listener l;
    listen_begins(&l);
    for (size_t at = 0; at < size; at += piece)
        take(&n, text + at, size - at < piece ? size - at : piece);
    let_go(&n);
    listen_ends(&l, got, room);
}

static void expect(const char *text, size_t size, const char *want)
{
    static char got[1 << 15];
    static const size_t pieces[] = {1, 3, 17, 100, 1 << 15};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        pass(text, size, pieces[i], got, sizeof got);
        assert_string_equal(got, want);
    }
}
#define EXPECT(text, want) expect(text, sizeof(text) - 1, want)

static void test_remarks_are_dropped(void **state)
{
    (void)state;
    EXPECT("before\n" REMARK "after\n", "before\nafter\n");
    EXPECT("before\n" BLOCK "after\n", "before\nafter\n");
    EXPECT(BLOCK BLOCK REMARK, "");
    EXPECT("one\n\0two\n\0", "one\ntwo\n"); /* it ends its messages with a NUL */
}

static void test_all_else_passes(void **state)
{
    (void)state;
    EXPECT("no end of line", "no end of line");
    EXPECT("[host:1] a message of a rank\n- a list\n12 numbers\n",
           "[host:1] a message of a rank\n- a list\n12 numbers\n");
    EXPECT(RULE "mpirun was unable to start\n" RULE, RULE "mpirun was unable to start\n" RULE);
    EXPECT(RULE RULE "text\n", RULE RULE "text\n");
    EXPECT(RULE, RULE);
    EXPECT("a module of mine is not tested for post-failure work\n",
           "a module of mine is not tested for post-failure work\n");
}

static void test_long_lines_pass(void **state)
{
    (void)state;
    static char text[5000];
    memset(text, 'x', sizeof text - 2);
    text[0] = '['; /* may begin a remark */
    text[sizeof text - 2] = '\n';
    expect(text, sizeof text - 1, text);
}

/* A block whose end is missing does not swallow all that follows. */
static void test_an_endless_block(void **state)
{
    (void)state;
    static char text[4096], want[4096];
    strcpy(text, RULE "The osc module ucx is not tested for post-failure operation\n");
    for (int i = 0; i < 40; i++)
        sprintf(text + strlen(text), "line %d\n", i);
    for (int i = 16; i < 40; i++)
        sprintf(want + strlen(want), "line %d\n", i);
    expect(text, strlen(text), want);
}

/* What is held is let go after a moment: somebody may wait for it (a prompt). */
static void test_nothing_is_held_for_long(void **state)
{
    (void)state;
    static char got[4096];
    static const char text[] = "[1] name? " RULE "x\n";
    struct listener l;
    listen_begins(&l);
    int in = run_noise_start();
    for (size_t at = 0, n; at < sizeof text - 1; at += n) {
        n = sizeof text - 1 - at < 10 ? sizeof text - 1 - at : 10;
        assert_int_equal(write(in, text + at, n), (ssize_t)n);
        nanosleep(&(struct timespec){0, 150000000}, NULL);
    }
    close(in);
    run_noise_end();
    listen_ends(&l, got, sizeof got);
    assert_string_equal(got, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remarks_are_dropped), cmocka_unit_test(test_all_else_passes),
        cmocka_unit_test(test_long_lines_pass), cmocka_unit_test(test_an_endless_block),
        cmocka_unit_test(test_nothing_is_held_for_long)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
