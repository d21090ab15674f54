/* Replacing a file under injected errors, short writes and kills at every step, and on a disk that
 * is really full: afterwards the old file or the new one is there, whole. */
#include <base/fault.h>
#include <base/io.h>
#include <mend/error.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>
#include "scratch.h"

enum { OLD_SIZE = 100000, NEW_SIZE = 300001, HITS_MAX = 100 };

static char old_data[OLD_SIZE], new_data[NEW_SIZE];
static const char *const places[] = {"io.open", "io.write", "io.fsync", "io.rename", "io.unlink"};
enum { PLACES = sizeof places / sizeof *places };

static void fill(void)
{
    for (int i = 0; i < OLD_SIZE; i++)
        old_data[i] = (char)(i * 7 + i / 251);
    for (int i = 0; i < NEW_SIZE; i++)
        new_data[i] = (char)(i * 11 + i / 241 + 1);
}

enum content { OLD, NEW, BROKEN };

static enum content content_of(const char *path)
{
    char *data = NULL;
    size_t size = 0;
    enum content content = BROKEN;
    if (mend_io_read_file(path, 1 << 20, &data, &size) != MEND_OK)
        return BROKEN;
    if (size == OLD_SIZE && memcmp(data, old_data, size) == 0)
        content = OLD;
    if (size == NEW_SIZE && memcmp(data, new_data, size) == 0)
        content = NEW;
    free(data);
    return content;
}

/* Remove what a death left; everything but the file itself must be known as temporary. */
static int clean_folder(void)
{
    int left = 0;
    DIR *folder = opendir(scratch);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "file") == 0)
            continue;
        assert_true(mend_io_is_temporary(entry->d_name));
        assert_int_equal(unlink(in_scratch(entry->d_name)), 0);
        left++;
    }
    closedir(folder);
    return left;
}

static void start_with_old(const char *path)
{
    assert_int_equal(mend_fault_configure(NULL), MEND_OK);
    assert_int_equal(mend_io_replace_file(path, old_data, OLD_SIZE), MEND_OK);
    assert_int_equal(content_of(path), OLD);
}

static void arm(const char *place, int hit, const char *action)
{
    char text[128];
    snprintf(text, sizeof text, "%s:hit=%d:%s", place, hit, action);
    assert_int_equal(mend_fault_configure(text), MEND_OK);
}

/* One injected error; false when that hit was not reached any more. */
static int error_at(const char *place, int hit, const char *action, int expected)
{
    const char *path = in_scratch("file");
    start_with_old(path);
    arm(place, hit, action);
    int code = mend_io_replace_file(path, new_data, NEW_SIZE);
    mend_fault_configure(NULL);
    enum content content = content_of(path);
    assert_true(content == OLD || content == NEW);
    assert_int_equal(clean_folder(), 0);
    if (code == MEND_OK) {
        assert_int_equal(content, NEW);
        return 0;
    }
    assert_int_equal(code, expected);
    assert_non_null(strstr(mend_error_text(), scratch)); /* the message has the path */
    return 1;
}

static void test_errors_at_every_step(void **state)
{
    (void)state;
    int reached = 0;
    for (int p = 0; p < PLACES; p++) {
        for (int hit = 1; hit < HITS_MAX && error_at(places[p], hit, "eio", MEND_ERR_IO); hit++)
            reached++;
        for (int hit = 1; hit < HITS_MAX && error_at(places[p], hit, "enospc", MEND_ERR_FULL);
             hit++)
            reached++;
    }
    print_message("%d errors carried out\n", reached);
    assert_true(reached >= 12); /* 2 opens, 1 write, 2 fsyncs, 1 rename; two errors each */
}

/* One kill in a child; false when that hit was not reached any more. */
static int kill_at(const char *place, int hit)
{
    const char *path = in_scratch("file");
    start_with_old(path);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char text[128];
        snprintf(text, sizeof text, "%s:hit=%d:kill,io.write:hit=1+:short", place, hit);
        mend_fault_configure(text);
        _exit(mend_io_replace_file(path, new_data, NEW_SIZE) == MEND_OK ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    enum content content = content_of(path);
    assert_true(content == OLD || content == NEW);
    if (WIFEXITED(status)) {
        assert_int_equal(WEXITSTATUS(status), 0);
        assert_int_equal(content, NEW);
        assert_int_equal(clean_folder(), 0);
        return 0;
    }
    assert_int_equal(WTERMSIG(status), SIGKILL);
    assert_true(clean_folder() <= 1);
    return 1;
}

static void test_kills_at_every_step(void **state)
{
    (void)state;
    int kills = 0;
    for (int p = 0; p < PLACES; p++)
        for (int hit = 1; hit < HITS_MAX && kill_at(places[p], hit); hit++)
            kills++;
    print_message("%d kills carried out\n", kills);
    assert_true(kills >= 20); /* with every write cut short there are many */
}

/* The new content is in place when replace has returned, and survives a kill right after. */
static void test_short_writes_lose_nothing(void **state)
{
    (void)state;
    const char *path = in_scratch("file");
    start_with_old(path);
    mend_fault_configure("io.write:hit=1+:short,io.read:hit=1+:short");
    assert_int_equal(mend_io_replace_file(path, new_data, NEW_SIZE), MEND_OK);
    assert_int_equal(content_of(path), NEW);
    mend_fault_configure(NULL);
    assert_int_equal(content_of(path), NEW);
}

static int write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));
    if (fd >= 0)
        close(fd);
    return n < 0 ? -1 : 0;
}

/* A mount namespace with a tmpfs of 256 KiB on the scratch folder: as root, or as root of a user
 * namespace. */
static int mount_small_disk(void)
{
    unsigned uid = getuid(), gid = getgid();
    if (unshare(CLONE_NEWNS)) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
            return -1;
        char map[64];
        snprintf(map, sizeof map, "0 %u 1", uid);
        if (write_text("/proc/self/uid_map", map) || write_text("/proc/self/setgroups", "deny"))
            return -1;
        snprintf(map, sizeof map, "0 %u 1", gid);
        if (write_text("/proc/self/gid_map", map))
            return -1;
    }
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
        return -1;
    return mount("tmpfs", scratch, "tmpfs", 0, "size=256k,mode=700");
}

enum { DISK_SKIPPED = 77 };

static int on_a_full_disk(void)
{
    if (mount_small_disk())
        return DISK_SKIPPED;
    const char *path = in_scratch("file");
    if (mend_io_replace_file(path, old_data, OLD_SIZE) != MEND_OK)
        return 1;
    if (mend_io_replace_file(path, new_data, NEW_SIZE) != MEND_ERR_FULL)
        return 2;
    if (content_of(path) != OLD)
        return 3;
    struct dirent **names;
    if (scandir(scratch, &names, NULL, alphasort) != 3) /* ".", "..", "file" */
        return 4;
    return 0;
}

static void test_real_full_disk(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(on_a_full_disk());
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == DISK_SKIPPED) {
        print_message("skipped: no mount namespace is allowed here\n");
        return;
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    fill();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_at_every_step), cmocka_unit_test(test_kills_at_every_step),
        cmocka_unit_test(test_short_writes_lose_nothing), cmocka_unit_test(test_real_full_disk)};
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
