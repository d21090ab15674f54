/* Events: whole JSON lines from many threads and processes, and never a failure of the caller. Also
 * the error table and the thread's own message. */
#include <base/event.h>
#include <base/fail.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>
#include "scratch.h"

enum { THREADS = 4, EVENTS = 300, PROCESSES = 3 };

static void *emit_many(void *name)
{
    for (int i = 0; i < EVENTS; i++)
        mend_event("test.many", ev_str("who", name), ev_int("i", i), ev_real("x", i / 3.0));
    return NULL;
}

/* Number of lines, all of which must be JSON objects with our schema version. */
static int count_good_lines(const char *path)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char line[8192];
    int count = 0;
    while (fgets(line, sizeof line, f)) {
        json_error_t error;
        json_t *object = json_loads(line, 0, &error);
        if (!object)
            fail_msg("not JSON: %s", line);
        assert_int_equal(json_integer_value(json_object_get(object, "mend")), 1);
        assert_true(json_is_string(json_object_get(object, "event")));
        assert_true(json_number_value(json_object_get(object, "t")) > 1e9);
        json_decref(object);
        count++;
    }
    fclose(f);
    return count;
}

/* Paths, and messages that were cut, may be any bytes. */
static void test_any_bytes(void **state)
{
    static const char *const odd[] = {"\xff",
                                      "a\xc3",
                                      "\xc0\xaf",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xf0\x80\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xe2\x82"};
    (void)state;
    const char *path = in_scratch("bytes.jsonl");
    assert_int_equal(mend_event_open(path), 0);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        mend_event("test.bytes", ev_str("file", odd[i]));
    mend_event("test.bytes", ev_str("file", "a\xff\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80z"));
    assert_int_equal(mend_event_open(NULL), 0);
    assert_int_equal(count_good_lines(path), 1 + sizeof odd / sizeof *odd);
    char line[4096], last[4096] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        strcpy(last, line);
    fclose(f);
    assert_non_null(strstr(last, "a\\ufffd\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80z"));
}

static void test_lines_never_mix(void **state)
{
    (void)state;
    const char *path = in_scratch("events.jsonl");
    pid_t children[PROCESSES];
    for (int p = 0; p < PROCESSES; p++) {
        children[p] = fork();
        assert_true(children[p] >= 0);
        if (children[p] == 0) {
            pthread_t threads[THREADS];
            if (mend_event_open(path))
                _exit(1);
            mend_event_set_rank(p);
            for (int i = 0; i < THREADS; i++)
                pthread_create(&threads[i], NULL, emit_many, "a \"quoted\" \\ name\n\t\001");
            for (int i = 0; i < THREADS; i++)
                pthread_join(threads[i], NULL);
            _exit(mend_event_lost() ? 2 : 0);
        }
    }
    for (int p = 0; p < PROCESSES; p++) {
        int status;
        assert_int_equal(waitpid(children[p], &status, 0), children[p]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(count_good_lines(path), PROCESSES * THREADS * EVENTS);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

static char last_line[8192];

static void remember(const char *line, void *user)
{
    (*(int *)user)++;
    snprintf(last_line, sizeof last_line, "%s", line);
}

static void test_callback_and_odd_values(void **state)
{
    (void)state;
    int calls = 0;
    assert_false(mend_event_active);
    mend_event("test.nobody", ev_int("x", 1));
    mend_event_set_callback(remember, &calls);
    errno = EBADF;
    mend_event("test.odd", ev_real("nan", NAN), ev_real("inf", -INFINITY), ev_str("null", NULL),
               ev_int("least", INT64_MIN), ev_real("third", 1 / 3.0));
    assert_int_equal(errno, EBADF);
    assert_int_equal(calls, 1);
    json_t *object = json_loads(last_line, 0, NULL);
    assert_non_null(object);
    assert_true(json_is_null(json_object_get(object, "nan")) &&
                json_is_null(json_object_get(object, "inf")));
    assert_true(json_integer_value(json_object_get(object, "least")) == INT64_MIN);
    assert_true(fabs(json_number_value(json_object_get(object, "third")) - 1 / 3.0) < 1e-8);
    json_decref(object);
    mend_event_field later = {.key = "later", .integer = 1};
    memset(&later.kind, 99, 1); /* of a version to come */
    mend_event_emit("test.later", &later, 1);
    object = json_loads(last_line, 0, NULL);
    assert_true(object && json_is_null(json_object_get(object, "later")));
    json_decref(object);
    mend_event_set_callback(NULL, NULL);
    assert_false(mend_event_active);
}

static void test_what_cannot_be_written_is_counted(void **state)
{
    (void)state;
    char long_text[6000];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = 0;
    const char *path = in_scratch("lost.jsonl");
    assert_int_equal(mend_event_open(path), MEND_OK);
    long before = mend_event_lost();
    mend_event("test.long", ev_str("text", long_text)); /* no cut line: none at all */
    mend_event("test.short", ev_int("x", 1));
    assert_int_equal(mend_event_lost(), before + 1);
    assert_int_equal(mend_event_open(NULL), MEND_OK);
    assert_int_equal(count_good_lines(path), 1);
    assert_int_equal(mend_event_open("/dev/full"), MEND_OK);
    mend_event("test.full", ev_int("x", 1));
    assert_int_equal(mend_event_lost(), before + 2);
    assert_int_equal(mend_event_open(NULL), MEND_OK);
    assert_int_equal(mend_event_open(in_scratch("no/such")), MEND_ERR_NOT_FOUND);
    assert_int_equal(symlink(path, in_scratch("link.jsonl")), 0);
    assert_int_equal(mend_event_open(in_scratch("link.jsonl")), MEND_ERR_PERMISSION);
}

static void *fail_elsewhere(void *unused)
{
    mend_fail(MEND_ERR_FULL, "another thread");
    return unused;
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        int code;
        const char *name;
    } table[] = {
#define ROW(name, value, sentence) {value, "MEND_" #name},
        MEND_ERROR_TABLE(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_string_equal(mend_error_name(table[i].code), table[i].name);
        assert_true(strlen(mend_error_sentence(table[i].code)) > 5);
        assert_true(i == 0 ? table[i].code == 0 : table[i].code < 0);
    }
    assert_string_equal(mend_error_name(-9999), "MEND_ERR_UNKNOWN");
    assert_int_equal(mend_fail(MEND_ERR_STATE, "rank %d", 7), MEND_ERR_STATE);
    pthread_t thread;
    pthread_create(&thread, NULL, fail_elsewhere, NULL);
    pthread_join(thread, NULL);
    assert_string_equal(mend_error_text(), "rank 7");
    assert_int_equal(mend_fail_within(MEND_ERR_STATE, "while saving"), MEND_ERR_STATE);
    assert_string_equal(mend_error_text(), "while saving: rank 7");
    errno = ENOSPC;
    assert_int_equal(mend_fail_errno("cannot write %s", "f"), MEND_ERR_FULL);
    assert_string_equal(mend_error_text(), "cannot write f: No space left on device");
    for (int i = 0; i < 300; i++) /* grows to its bound, not past it */
        mend_fail_within(MEND_ERR_IO, "level %d", i);
    assert_true(strlen(mend_error_text()) < 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_bytes), cmocka_unit_test(test_lines_never_mix),
        cmocka_unit_test(test_callback_and_odd_values),
        cmocka_unit_test(test_what_cannot_be_written_is_counted), cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
