/* Files that are changed by system calls are noted, and put back as they were: by the calls that a program makes,
 * and by random ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scratch.h"
#include "undo/undo.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* no file is open by MPI-IO */
int outside_has(const struct stat *st)
{
    (void)st;
    return 0;
}
void undo_outside_begin(void)
{
}
int undo_program_locks(void)
{
    return 0;
}

static long call(long number, long a, long b, long c, long d, long e)
{
    unsigned long arguments[6] = {(unsigned long)a, (unsigned long)b, (unsigned long)c,
                                  (unsigned long)d, (unsigned long)e, 0};
    return undo_call(number, arguments);
}

static long open_by_call(const char *path, int flags)
{
    return call(SYS_openat, AT_FDCWD, (long)path, flags, 0600, 0);
}

static void write_by_call(const char *path, int flags, const char *text, long offset)
{
    long fd = open_by_call(path, flags);
    assert_true(fd >= 0);
    assert_int_equal(call(SYS_pwrite64, fd, (long)text, (long)strlen(text), offset, 0),
                     strlen(text));
    close((int)fd);
}

static void assert_content(const char *name, const char *wanted)
{
    char have[256] = "";
    FILE *f = fopen(in_scratch(name), "r");
    if (!wanted) {
        assert_null(f);
        return;
    }
    assert_non_null(f);
    size_t n = fread(have, 1, sizeof have - 1, f);
    fclose(f);
    assert_int_equal(n, strlen(wanted));
    assert_string_equal(have, wanted);
}

static void go_back(mend_version_t version)
{
    for (mend_version_t v = undo_newest(0); v >= version; v--) {
        undo_contents(0, v);
        undo_others(0, v);
        undo_lengths(0, v);
        if (v > version)
            undo_remove(0, v);
    }
    undo_remove(0, version);
}

static int setup(void **state)
{
    if (scratch_setup(state))
        return -1;
    undo_open(scratch);
    return 0;
}

static void bytes_lengths_and_names(void **state)
{
    (void)state;
    put_file(in_scratch("over"), "0123456789");
    put_file(in_scratch("longer"), "abc");
    put_file(in_scratch("cut"), "to be cut");
    put_file(in_scratch("gone"), "not for ever");
    put_file(in_scratch("from"), "renamed");
    put_file(in_scratch("to"), "replaced");
    undo_begin(0, 1);
    write_by_call(in_scratch("over"), O_WRONLY, "XYZ", 4);
    write_by_call(in_scratch("longer"), O_WRONLY, "def", 3);
    close((int)open_by_call(in_scratch("cut"), O_WRONLY | O_TRUNC));
    call(SYS_unlinkat, AT_FDCWD, (long)in_scratch("gone"), 0, 0, 0);
    call(SYS_renameat2, AT_FDCWD, (long)in_scratch("from"), AT_FDCWD, (long)in_scratch("to"), 0);
    write_by_call(in_scratch("new"), O_WRONLY | O_CREAT, "made since", 0);
    assert_content("over", "0123XYZ789");
    assert_content("to", "renamed");
    assert_null(undo_impossible(0, 1));
    go_back(1);
    assert_content("over", "0123456789");
    assert_content("longer", "abc");
    assert_content("cut", "to be cut");
    assert_content("gone", "not for ever");
    assert_content("from", "renamed");
    assert_content("to", "replaced");
    assert_content("new", NULL);
}

static void several_versions(void **state)
{
    (void)state;
    put_file(in_scratch("f"), "one");
    undo_begin(0, 11);
    write_by_call(in_scratch("f"), O_WRONLY, "two", 0);
    undo_begin(0, 12);
    write_by_call(in_scratch("f"), O_WRONLY, "three", 0);
    undo_begin(0, 13);
    write_by_call(in_scratch("f"), O_WRONLY, "four!!", 0);
    go_back(12);
    assert_content("f", "two");
    assert_int_equal(undo_newest(0), 11);
    go_back(11);
    assert_content("f", "one");
    assert_int_equal(undo_newest(0), -1);
}

/* A kill may come in the middle: all of it happens again, with the same result. */
static void twice_is_as_good_as_once(void **state)
{
    (void)state;
    put_file(in_scratch("twice"), "before");
    put_file(in_scratch("old"), "old");
    undo_begin(0, 20);
    write_by_call(in_scratch("twice"), O_WRONLY, "after and longer", 0);
    call(SYS_renameat2, AT_FDCWD, (long)in_scratch("old"), AT_FDCWD, (long)in_scratch("moved"), 0);
    undo_contents(0, 20);
    undo_contents(0, 20);
    undo_lengths(0, 20);
    undo_contents(0, 20);
    undo_lengths(0, 20);
    undo_remove(0, 20);
    assert_content("twice", "before");
    assert_content("old", "old");
    assert_content("moved", NULL);
}

/* The last record was cut short by a kill: its change has not happened, the others are undone. */
static void a_record_that_is_cut_short(void **state)
{
    (void)state;
    char log[PATH_MAX + 64];
    put_file(in_scratch("short"), "0123456789");
    undo_begin(0, 30);
    write_by_call(in_scratch("short"), O_WRONLY, "A", 0);
    write_by_call(in_scratch("short"), O_WRONLY, "B", 5);
    snprintf(log, sizeof log, "%s/0/30", undo_log.folder);
    struct stat st;
    assert_int_equal(stat(log, &st), 0);
    assert_int_equal(truncate(log, st.st_size - 1), 0);
    go_back(30);
    assert_content("short", "01234B6789");
}

static void what_was_not_kept_is_refused(void **state)
{
    (void)state;
    put_file(in_scratch("large"), "more than may be kept");
    uint64_t limit = undo_log.limit;
    undo_log.limit = 40;
    undo_begin(0, 40);
    write_by_call(in_scratch("large"), O_WRONLY, "overwritten", 0);
    assert_non_null(undo_impossible(0, 40));
    undo_log.limit = limit;
    undo_remove(0, 40);
}

/* The disk is full: not even the loss of a change can be recorded, and yet nobody goes back across it. */
static void without_room_for_a_record(void **state)
{
    (void)state;
    struct rlimit all, none;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &all), 0);
    signal(SIGXFSZ, SIG_IGN);
    const char *const change[] = {"write", "create", "rename", "remove"};
    for (int i = 0; i < 4; i++) {
        mend_version_t version = 60 + i;
        put_file(in_scratch("full"), "content");
        unlink(in_scratch("other"));
        undo_begin(0, version);
        none = (struct rlimit){0, all.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
        long fd = i == 0 ? open(in_scratch("full"), O_WRONLY) : -1;
        if (i == 0)
            call(SYS_ftruncate, fd, 0, 0, 0, 0);
        if (i == 0)
            close((int)fd);
        if (i == 1)
            close((int)open_by_call(in_scratch("other"), O_WRONLY | O_CREAT));
        if (i == 2)
            call(SYS_renameat2, AT_FDCWD, (long)in_scratch("full"), AT_FDCWD,
                 (long)in_scratch("other"), 0);
        if (i == 3)
            call(SYS_unlinkat, AT_FDCWD, (long)in_scratch("full"), 0, 0, 0);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
        undo_begin(0, version + 1);
        if (!undo_impossible(0, version))
            fail_msg("%s: the job would go back", change[i]);
        undo_remove(0, version);
        assert_null(undo_impossible(0, version));
    }
    signal(SIGXFSZ, SIG_DFL);
}

/* The exit code of a process that goes back, with `files` files open at most. */
static int goes_back(mend_version_t version, rlim_t files)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit;
        if (getrlimit(RLIMIT_NOFILE, &limit))
            _exit(99);
        limit.rlim_cur = files < limit.rlim_cur ? files : limit.rlim_cur;
        if (setrlimit(RLIMIT_NOFILE, &limit))
            _exit(99);
        go_back(version);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
}

/* Neither the logs nor a file that cannot be opened are taken for absent. */
static void what_cannot_be_opened_is_not_absent(void **state)
{
    (void)state;
    char command[600];
    put_file(in_scratch("unread"), "old");
    undo_begin(0, 70);
    write_by_call(in_scratch("unread"), O_WRONLY, "new", 0);
    assert_int_equal(goes_back(70, 0), 1);
    assert_content("unread", "new");
    assert_int_equal(goes_back(70, RLIM_INFINITY), 0);
    assert_content("unread", "old");

    snprintf(command, sizeof command, "cp /bin/sleep '%s'", in_scratch("program"));
    assert_int_equal(system(command), 0);
    undo_begin(0, 71);
    write_by_call(in_scratch("program"), O_WRONLY, "new", 10); /* padding of its head */
    pid_t running = fork();
    if (running == 0)
        execl(in_scratch("program"), "sleep", "60", (char *)NULL);
    for (int i = 0; i < 500 && access(in_scratch("program"), F_OK) == 0; i++) {
        int fd = open(in_scratch("program"), O_WRONLY);
        if (fd < 0)
            break; /* it runs */
        close(fd);
        usleep(10000);
    }
    assert_int_equal(goes_back(71, RLIM_INFINITY), 1);
    kill(running, SIGKILL);
    waitpid(running, NULL, 0);
    assert_int_equal(goes_back(71, RLIM_INFINITY), 0);
}

static void nobody_goes_behind_what_is_forgotten(void **state)
{
    (void)state;
    put_file(in_scratch("floor"), "x");
    undo_begin(0, 50);
    write_by_call(in_scratch("floor"), O_WRONLY, "y", 0);
    undo_begin(0, 51);
    undo_forget(0, 51);
    assert_int_equal(undo_floor(0), 51);
    assert_non_null(undo_impossible(0, 50));
    assert_null(undo_impossible(0, 51));
    undo_remove_floor(0);
}

/* The floor is kept as 32 bits; beyond them no log is forgotten. */
static void numbers_beyond_32_bits(void **state)
{
    (void)state;
    const mend_version_t first = 5000000000;
    put_file(in_scratch("large"), "one");
    undo_begin(0, first);
    write_by_call(in_scratch("large"), O_WRONLY, "two", 0);
    undo_begin(0, first + 1);
    write_by_call(in_scratch("large"), O_WRONLY, "three", 0);
    undo_forget(0, first + 1);
    assert_int_equal(undo_floor(0), 0);
    assert_int_equal(undo_newest(0), first + 1);
    assert_null(undo_impossible(0, first));
    go_back(first);
    assert_content("large", "one");
    assert_int_equal(undo_newest(0), -1);
}

/* More files than are remembered at a time, each changed twice, in turn. */
static void many_files(void **state)
{
    (void)state;
    enum { FILES = 2560 };
    char name[32];
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "many%d", i);
        if (i % 3)
            put_file(in_scratch(name), "first");
    }
    undo_begin(0, 70);
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < FILES; i++) {
            snprintf(name, sizeof name, "many%d", i);
            write_by_call(in_scratch(name), O_CREAT | O_WRONLY, turn ? "and longer" : "other",
                          turn * 3);
        }
    go_back(70);
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "many%d", i);
        assert_content(name, i % 3 ? "first" : NULL);
        if (i % 3)
            unlink(in_scratch(name));
    }
}

/* Any calls on four files: going back gives what was there. */
static void random_calls(void **state)
{
    (void)state;
    unsigned seed = 7;
    static const char *const name[] = {"r0", "r1", "r2", "r3"};
    for (int round = 0; round < 60; round++) {
        char before[4][256], text[32];
        int there[4];
        undo_begin(0, 100 + round);
        for (int i = 0; i < 4; i++) {
            FILE *f = fopen(in_scratch(name[i]), "r");
            there[i] = f != NULL;
            before[i][f ? fread(before[i], 1, 255, f) : 0] = 0;
            if (f)
                fclose(f);
        }
        for (int k = rand_r(&seed) % 12; k > 0; k--) {
            const char *path = in_scratch(name[rand_r(&seed) % 4]);
            const char *other = in_scratch(name[rand_r(&seed) % 4]);
            long fd;
            switch (rand_r(&seed) % 5) {
            case 0:
            case 1:
                snprintf(text, sizeof text, "<%d>", rand_r(&seed) % 1000);
                fd = open_by_call(path, O_WRONLY | O_CREAT);
                call(SYS_pwrite64, fd, (long)text, (long)strlen(text), rand_r(&seed) % 40, 0);
                close((int)fd);
                break;
            case 2: call(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0, 0); break;
            case 3:
                if (strcmp(path, other) != 0)
                    call(SYS_renameat2, AT_FDCWD, (long)path, AT_FDCWD, (long)other, 0);
                break;
            default:
                fd = open_by_call(path, O_WRONLY);
                if (fd >= 0)
                    call(SYS_ftruncate, fd, rand_r(&seed) % 30, 0, 0, 0);
                close((int)fd);
            }
        }
        if (round % 3 == 0)
            continue; /* it stands */
        assert_null(undo_impossible(0, 100 + round));
        go_back(100 + round);
        for (int i = 0; i < 4; i++) {
            char now[256];
            FILE *f = fopen(in_scratch(name[i]), "r");
            assert_int_equal(f != NULL, there[i]);
            now[f ? fread(now, 1, 255, f) : 0] = 0;
            if (f)
                fclose(f);
            assert_string_equal(now, before[i]);
        }
    }
}

/* A log that another job has written is never applied. */
static void a_log_of_another_job_is_refused(void **state)
{
    (void)state;
    const char *path = in_scratch("theirs");
    undo_begin(0, 900);
    write_by_call(path, O_WRONLY | O_CREAT, "abc", 0);
    ground.job_sum++;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(2);
        undo_contents(0, 900);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_content("theirs", "abc");
    ground.job_sum--;
    go_back(900);
    assert_content("theirs", NULL);
}

/* What a rollback prints. */
static const char *told_going_back(mend_version_t version)
{
    static char text[4096];
    const char *path = in_scratch("told");
    fflush(stderr);
    int before = dup(2), to = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(to, 2);
    for (int rank = 0; rank < 2; rank++)
        undo_contents(rank, version);
    for (int rank = 0; rank < 2; rank++) {
        undo_contents(rank, version); /* as a rank does that has missed some */
        undo_others(rank, version);
    }
    dup2(before, 2);
    ssize_t n = pread(to, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    close(to);
    close(before);
    for (int rank = 0; rank < 2; rank++)
        undo_remove(rank, version);
    return text;
}

static int times(const char *text, const char *word)
{
    int n = 0;
    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}

/* Of two ranks one overwrites what the other has made, or renamed; and a file disappears behind their backs. */
static void a_file_that_is_not_there_is_told(void **state)
{
    (void)state;
    put_file(in_scratch("vanished"), "0123456789");
    put_file(in_scratch("first"), "0123456789");
    undo_begin(0, 950);
    write_by_call(in_scratch("made"), O_WRONLY | O_CREAT, "made since", 0);
    write_by_call(in_scratch("part"), O_WRONLY | O_CREAT, "made since", 0);
    call(SYS_renameat2, AT_FDCWD, (long)in_scratch("part"), AT_FDCWD, (long)in_scratch("whole"), 0);
    call(SYS_renameat2, AT_FDCWD, (long)in_scratch("first"), AT_FDCWD, (long)in_scratch("second"),
         0);
    undo_begin(1, 950);
    write_by_call(in_scratch("made"), O_WRONLY, "XXX", 2);
    write_by_call(in_scratch("whole"), O_WRONLY, "XXX", 2);
    write_by_call(in_scratch("second"), O_WRONLY, "XXX", 2);
    write_by_call(in_scratch("vanished"), O_WRONLY, "A", 2);
    write_by_call(in_scratch("vanished"), O_WRONLY, "B", 5);
    unlink(in_scratch("vanished"));
    const char *told = told_going_back(950);
    assert_int_equal(times(told, "its old content is not restored"), 1);
    assert_non_null(strstr(told, "vanished has changed since version 950"));
    assert_content("first", "0123456789"); /* as it was before the other rank renamed it */
    assert_content("made", NULL);
    assert_content("whole", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_lengths_and_names),
        cmocka_unit_test(several_versions),
        cmocka_unit_test(twice_is_as_good_as_once),
        cmocka_unit_test(a_record_that_is_cut_short),
        cmocka_unit_test(what_was_not_kept_is_refused),
        cmocka_unit_test(without_room_for_a_record),
        cmocka_unit_test(what_cannot_be_opened_is_not_absent),
        cmocka_unit_test(nobody_goes_behind_what_is_forgotten),
        cmocka_unit_test(numbers_beyond_32_bits),
        cmocka_unit_test(many_files),
        cmocka_unit_test(random_calls),
        cmocka_unit_test(a_log_of_another_job_is_refused),
        cmocka_unit_test(a_file_that_is_not_there_is_told),
    };
    return cmocka_run_group_tests(tests, setup, scratch_teardown);
}
