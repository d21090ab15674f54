/* Folders under attack: what another user made beforehand is refused, and what is swapped later has
 * no effect. Other users' folders need root to be made; as a plain user those parts are left out. */
#include <base/io.h>
#include <fcntl.h>
#include <mend/error.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include "scratch.h"

#define STRANGER 54321

static void make(const char *path, mode_t mode)
{
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, mode), 0);
}

/* "tmp" stands for /tmp: all may write, and the sticky bit is set. */
static void set_tmp(void)
{
    if (access(in_scratch("tmp"), F_OK) != 0)
        make(in_scratch("tmp"), 01777);
}

static void test_strangers_folder_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    set_tmp();
    make(in_scratch("tmp/taken"), 0777);
    assert_int_equal(chown(in_scratch("tmp/taken"), STRANGER, STRANGER), 0);
    assert_int_equal(mend_io_make_folders(in_scratch("tmp/taken/job/store")), MEND_ERR_PERMISSION);
    assert_int_equal(chmod(in_scratch("tmp/taken"), 0755), 0); /* its owner may still exchange */
    assert_int_equal(mend_io_make_folders(in_scratch("tmp/taken/job/store")), MEND_ERR_PERMISSION);
    assert_int_equal(mend_io_make_folders(in_scratch("tmp/taken")), MEND_ERR_PERMISSION);
    assert_non_null(strstr(mend_error_text(), "54321"));
    /* a project's folder, of another user and outside /tmp, is the user's choice */
    make(in_scratch("project"), 0775);
    assert_int_equal(chown(in_scratch("project"), STRANGER, STRANGER), 0);
    assert_int_equal(mend_io_make_folders(in_scratch("project/me/run")), MEND_OK);
}

static void test_links_and_open_folders_are_refused(void **state)
{
    (void)state;
    set_tmp();
    make(in_scratch("elsewhere"), 0700);
    assert_int_equal(symlink("../elsewhere", in_scratch("tmp/link")), 0);
    assert_int_equal(mend_io_make_folders(in_scratch("tmp/link/job")), MEND_ERR_PERMISSION);
    assert_int_not_equal(access(in_scratch("elsewhere/job"), F_OK), 0);
    make(in_scratch("tmp/wide"), 0777);
    assert_int_equal(mend_io_make_folders(in_scratch("tmp/wide/job")), MEND_ERR_PERMISSION);
    assert_int_equal(mend_io_make_private(in_scratch("tmp/mine")), MEND_OK);
    assert_int_equal(mend_io_make_folders(in_scratch("tmp/mine/job")), MEND_OK);
    assert_int_equal(chmod(in_scratch("tmp/mine"), 0750), 0);
    assert_int_equal(mend_io_make_private(in_scratch("tmp/mine")), MEND_ERR_PERMISSION);
    assert_int_equal(mend_io_make_folders(in_scratch("tmp/mine/job/")), MEND_OK);
    /* links elsewhere are the user's own */
    assert_int_equal(symlink("elsewhere", in_scratch("short")), 0);
    assert_int_equal(mend_io_make_folders(in_scratch("short/job")), MEND_OK);
    assert_int_equal(access(in_scratch("elsewhere/job"), F_OK), 0);
}

static int count_files(const char *folder, const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

/* The pinned folder is renamed and a link to another one takes its place. */
static void test_pinned_folder_cannot_be_swapped(void **state)
{
    (void)state;
    char *back = NULL;
    size_t size;
    assert_int_equal(mend_io_make_folders(in_scratch("pin/here")), MEND_OK);
    make(in_scratch("trap"), 0700);
    assert_int_equal(mend_io_pin(in_scratch("pin/here")), MEND_OK);
    assert_int_equal(mend_io_pin(in_scratch("pin/here")), MEND_OK); /* counted */
    mend_io_unpin(in_scratch("pin/here"));
    assert_int_equal(mend_io_replace_file(in_scratch("pin/here/a"), "one", 3), MEND_OK);
    assert_int_equal(rename(in_scratch("pin/here"), in_scratch("pin/away")), 0);
    assert_int_equal(symlink("../trap", in_scratch("pin/here")), 0);
    put_file(in_scratch("trap/a"), "bad");

    assert_int_equal(mend_io_read_file(in_scratch("pin/here/a"), 9, &back, &size), MEND_OK);
    assert_string_equal(back, "one");
    free(back);
    assert_int_equal(mend_io_replace_file(in_scratch("pin/here/b"), "two", 3), MEND_OK);
    assert_true(count_files(in_scratch("pin/away"), "b"));
    assert_false(count_files(in_scratch("trap"), "b"));
    assert_int_equal(mend_io_remove(in_scratch("pin/here/a")), MEND_OK);
    assert_true(count_files(in_scratch("trap"), "a"));
    int fd = -1;
    assert_int_equal(mend_io_open_folder(in_scratch("pin/here"), &fd), MEND_OK);
    assert_true(faccessat(fd, "b", F_OK, 0) == 0);
    close(fd);
    mend_io_unpin(in_scratch("pin/here"));
    assert_int_equal(mend_io_open_folder(in_scratch("pin/here"), &fd), MEND_ERR_PERMISSION);
}

/* A program that closes all descriptors, ours too: the folder is found again, or refused. */
static void test_descriptor_is_lost(void **state)
{
    (void)state;
    int before = dup(0);
    close(before); /* the number that the pin will have */
    assert_int_equal(mend_io_make_folders(in_scratch("lost/here")), MEND_OK);
    assert_int_equal(mend_io_pin(in_scratch("lost/here")), MEND_OK);
    close(before);
    int other = open("/", O_RDONLY | O_DIRECTORY);
    assert_int_equal(other, before);
    assert_int_equal(mend_io_replace_file(in_scratch("lost/here/a"), "one", 3), MEND_OK);
    assert_true(count_files(in_scratch("lost/here"), "a"));
    assert_int_equal(fcntl(other, F_GETFD), 0); /* the program's own is left alone */
    assert_int_equal(rename(in_scratch("lost/here"), in_scratch("lost/away")), 0);
    make(in_scratch("lost/here"), 0700);
    close(before + 1);
    assert_int_not_equal(mend_io_replace_file(in_scratch("lost/here/b"), "two", 3), MEND_OK);
    assert_false(count_files(in_scratch("lost/here"), "b"));
    mend_io_unpin(in_scratch("lost/here"));
    close(other);
}

static void test_trees_are_removed_without_following(void **state)
{
    (void)state;
    assert_int_equal(mend_io_make_folders(in_scratch("tree/a/b")), MEND_OK);
    assert_int_equal(mend_io_make_folders(in_scratch("keep/this")), MEND_OK);
    put_file(in_scratch("keep/file"), "x");
    put_file(in_scratch("tree/a/file"), "x");
    assert_int_equal(symlink("../../keep", in_scratch("tree/a/link")), 0);
    assert_int_equal(symlink("keep", in_scratch("top")), 0);
    assert_int_equal(mend_io_remove_tree(in_scratch("tree")), MEND_OK);
    assert_int_not_equal(access(in_scratch("tree"), F_OK), 0);
    assert_int_equal(mend_io_remove_tree(in_scratch("top")), MEND_OK);
    assert_int_equal(mend_io_remove_tree(in_scratch("tree")), MEND_OK);
    assert_int_equal(access(in_scratch("keep/this"), F_OK), 0);
    assert_int_equal(access(in_scratch("keep/file"), F_OK), 0);
}

/* A process that is killed leaves its folder, and the next one removes it; not that of one that lives. */
static void test_held_folders_are_swept(void **state)
{
    (void)state;
    char mine[4096], theirs[4096];
    int status, ends[2];
    assert_int_equal(mend_io_make_folders(in_scratch("held")), MEND_OK);
    assert_int_equal(mend_io_make_held(in_scratch("held"), "node-", mine, sizeof mine), MEND_OK);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        if (mend_io_make_held(in_scratch("held"), "node-", theirs, sizeof theirs))
            _exit(1);
        strcat(theirs, "/file");
        put_file(theirs, "x");
        *strrchr(theirs, '/') = 0;
        if (write(ends[1], theirs, sizeof theirs) != sizeof theirs)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ends[0], theirs, sizeof theirs), sizeof theirs);
    mend_io_sweep_held(in_scratch("held"), "node-");
    assert_int_equal(access(theirs, F_OK), 0);
    assert_int_equal(access(mine, F_OK), 0);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    mend_io_sweep_held(in_scratch("held"), "other-");
    assert_int_equal(access(theirs, F_OK), 0);
    mend_io_sweep_held(in_scratch("held"), "node-");
    assert_int_not_equal(access(theirs, F_OK), 0);
    assert_int_equal(access(mine, F_OK), 0);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_strangers_folder_is_refused),
                                       cmocka_unit_test(test_links_and_open_folders_are_refused),
                                       cmocka_unit_test(test_pinned_folder_cannot_be_swapped),
                                       cmocka_unit_test(test_descriptor_is_lost),
                                       cmocka_unit_test(test_held_folders_are_swept),
                                       cmocka_unit_test(test_trees_are_removed_without_following)};
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
