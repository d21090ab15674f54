/* The i/o helpers: whole transfers in spite of short ones and signals; nothing dubious is opened.
 */
#include <base/fault.h>
#include <base/io.h>
#include <mend/error.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <cmocka.h>
#include "scratch.h"

static void test_parts_arrive_in_order(void **state)
{
    (void)state;
    static const char *const faults[] = {NULL, "io.write:hit=1+:short"};
    for (int i = 0; i < 2; i++) {
        const char *path = in_scratch("parts");
        char back[16] = "";
        unlink(path);
        assert_int_equal(mend_fault_configure(faults[i]), MEND_OK);
        int fd = mend_io_create(path);
        assert_true(fd >= 0);
        struct iovec parts[] = {{"abc", 3}, {"", 0}, {"defg", 4}, {"h", 1}};
        assert_int_equal(mend_io_writev(fd, parts, 4, path), MEND_OK);
        assert_int_equal(mend_io_pwrite(fd, "XY", 2, 1, path), MEND_OK);
        assert_int_equal(mend_io_pread(fd, back, 8, 0, path), MEND_OK);
        assert_string_equal(back, "aXYdefgh");
        assert_int_equal(mend_io_pread(fd, back, 9, 0, path), MEND_ERR_TRUNCATED);
        assert_int_equal(mend_io_pread(fd, back, 1, -1, path), MEND_ERR_ARGUMENT);
        close(fd);
    }
    mend_fault_configure(NULL);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int signal)
{
    (void)signal;
    alarms++;
}

/* A writer and a slow reader over a pipe, with a signal every millisecond: all bytes, in order. */
static void test_signals_do_not_matter(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    unsigned char *data = malloc(SIZE), *back = malloc(SIZE);
    int ends[2];
    assert_true(data && back && pipe(ends) == 0);
    for (int i = 0; i < SIZE; i++)
        data[i] = (unsigned char)(i * 31 + i / 1009);
    struct sigaction action = {.sa_handler = on_alarm}; /* no SA_RESTART */
    sigaction(SIGALRM, &action, NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    if (child == 0) {
        setitimer(ITIMER_REAL, &every, NULL);
        close(ends[0]);
        _exit(mend_io_write(ends[1], data, SIZE, "pipe") == MEND_OK && alarms > 0 ? 0 : 1);
    }
    close(ends[1]);
    setitimer(ITIMER_REAL, &every, NULL);
    for (int at = 0; at < SIZE; at += SIZE / 16) {
        while (usleep(3000) && errno == EINTR && alarms % 3)
            ;
        assert_int_equal(mend_io_read(ends[0], back + at, SIZE / 16, "pipe"), MEND_OK);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    int status;
    while (waitpid(child, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    assert_int_equal(status, 0);
    assert_true(alarms > 0);
    assert_memory_equal(data, back, SIZE);
    close(ends[0]);
    free(data);
    free(back);
}

static int refused(const char *path)
{
    int fd = mend_io_open_read(path);
    if (fd >= 0)
        close(fd);
    return fd;
}

static void test_dubious_files_are_refused(void **state)
{
    (void)state;
    const char *file = in_scratch("plain"), *link = in_scratch("link"), *fifo = in_scratch("fifo");
    put_file(file, "x");
    assert_int_equal(chmod(file, 0600), 0);
    int fd = mend_io_open_read(file);
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
    assert_int_equal(symlink(file, link), 0);
    assert_int_equal(refused(link), MEND_ERR_PERMISSION);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(refused(fifo), MEND_ERR_PERMISSION); /* and does not hang */
    assert_int_equal(refused(scratch), MEND_ERR_PERMISSION);
    assert_int_equal(refused(in_scratch("none")), MEND_ERR_NOT_FOUND);
    assert_int_equal(chmod(file, 0622), 0);
    assert_int_equal(refused(file), MEND_ERR_PERMISSION);
    if (geteuid() == 0) {
        assert_int_equal(chmod(file, 0600), 0);
        assert_int_equal(chown(file, 65534, 65534), 0);
        assert_int_equal(refused(file), MEND_ERR_PERMISSION);
    }
}

/* Flags, schedules, a site's configuration: root's, the group's, behind a link; all may be read. */
static void test_input_files_may_be_anybodys(void **state)
{
    (void)state;
    const char *file = in_scratch("input"), *link = in_scratch("input-link");
    char *text;
    size_t size;
    put_file(file, "flags");
    assert_int_equal(symlink(file, link), 0);
    assert_int_equal(chmod(file, 0664), 0);
    if (geteuid() == 0)
        assert_int_equal(chown(file, 65534, 65534), 0);
    assert_int_equal(mend_io_read_input(link, 10, &text, &size), MEND_OK);
    assert_string_equal(text, "flags");
    free(text);
    assert_int_equal(mend_io_read_input(link, 4, &text, &size), MEND_ERR_ARGUMENT);
    assert_int_equal(mend_io_read_input(scratch, 10, &text, &size), MEND_ERR_PERMISSION);
    assert_int_equal(mend_io_read_input(in_scratch("nothing"), 10, &text, &size),
                     MEND_ERR_NOT_FOUND);
}

static void test_created_files_are_private(void **state)
{
    (void)state;
    const char *path = in_scratch("private");
    mode_t mask = umask(0);
    int fd = mend_io_create(path);
    umask(mask);
    struct stat st;
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    close(fd);
    assert_int_equal(mend_io_create(path), MEND_ERR_EXISTS);
    assert_int_equal(mend_io_remove(path), MEND_OK);
    assert_int_equal(mend_io_remove(path), MEND_OK); /* not there is as good as removed */
    assert_int_equal(symlink(in_scratch("elsewhere"), path), 0);
    assert_int_equal(mend_io_create(path), MEND_ERR_EXISTS); /* the link is not followed */
    assert_int_not_equal(access(in_scratch("elsewhere"), F_OK), 0);
}

static void test_folders(void **state)
{
    (void)state;
    struct stat st;
    assert_int_equal(mend_io_make_folders(in_scratch("a/b/c")), MEND_OK);
    assert_int_equal(stat(in_scratch("a/b"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(mend_io_make_folders(in_scratch("a/b/c")), MEND_OK);
    put_file(in_scratch("a/file"), "x");
    assert_int_not_equal(mend_io_make_folders(in_scratch("a/file")), MEND_OK);
    assert_int_not_equal(mend_io_make_folders(in_scratch("a/file/d")), MEND_OK);
    assert_int_equal(symlink("b", in_scratch("a/link")), 0);
    assert_int_equal(mend_io_make_folders(in_scratch("a/link")), MEND_ERR_PERMISSION);
    mend_fault_configure(
        "io.mkdir:hit=3:eio"); /* wherever the third mkdir is, an error comes back */
    assert_int_equal(mend_io_make_folders(in_scratch("n/e/w")), MEND_ERR_IO);
    mend_fault_configure(NULL);
    assert_int_equal(mend_io_make_folders(in_scratch("n/e/w")), MEND_OK);
    assert_int_equal(mend_io_sync_directory(in_scratch("n/e/w")), MEND_OK);
    assert_int_equal(mend_io_make_folders("/proc/nothing/here"), MEND_ERR_NOT_FOUND);
}

static void test_temporary_names(void **state)
{
    (void)state;
    assert_true(mend_io_is_temporary("image.tmp-123-4"));
    assert_true(mend_io_is_temporary("x.tmp-y.tmp-1-0"));
    static const char *const others[] = {"image",    "image.tmp",  "image.tmp-", "image.tmp-1",
                                         "a.tmp-1-", "a.tmp-1-2x", "a.tmp-x-2",  ""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(mend_io_is_temporary(others[i]));
}

static void test_whole_files(void **state)
{
    (void)state;
    const char *path = in_scratch("whole");
    char *data;
    size_t size;
    assert_int_equal(mend_io_replace_file(path, "12345", 5), MEND_OK);
    assert_int_equal(mend_io_read_file(path, 5, &data, &size), MEND_OK);
    assert_int_equal(size, 5);
    assert_string_equal(data, "12345");
    free(data);
    assert_int_equal(mend_io_read_file(path, 4, &data, &size), MEND_ERR_ARGUMENT);
    assert_null(data);
    assert_int_equal(mend_io_replace_file(path, "", 0), MEND_OK);
    assert_int_equal(mend_io_read_file(path, 4, &data, &size), MEND_OK);
    assert_int_equal(size, 0);
    free(data);
    assert_int_equal(mend_io_replace_file(in_scratch("no/such/folder"), "x", 1),
                     MEND_ERR_NOT_FOUND);
}

/* Exactly one bit differs, and only on disk. */
static void test_flip_turns_one_bit(void **state)
{
    (void)state;
    char data[1000], *back;
    size_t size;
    memset(data, 'a', sizeof data);
    mend_fault_configure("io.write:flip");
    assert_int_equal(mend_io_replace_file(in_scratch("flip"), data, sizeof data), MEND_OK);
    mend_fault_configure(NULL);
    assert_int_equal(mend_io_read_file(in_scratch("flip"), 1000, &back, &size), MEND_OK);
    int bits = 0;
    for (size_t i = 0; i < sizeof data; i++) {
        assert_int_equal(data[i], 'a');
        bits += __builtin_popcount((unsigned)(data[i] ^ back[i]) & 0xff);
    }
    assert_int_equal(bits, 1);
    free(back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts_arrive_in_order),
                                       cmocka_unit_test(test_signals_do_not_matter),
                                       cmocka_unit_test(test_dubious_files_are_refused),
                                       cmocka_unit_test(test_input_files_may_be_anybodys),
                                       cmocka_unit_test(test_created_files_are_private),
                                       cmocka_unit_test(test_folders),
                                       cmocka_unit_test(test_temporary_names),
                                       cmocka_unit_test(test_whole_files),
                                       cmocka_unit_test(test_flip_turns_one_bit)};
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
