/* Configuration: one table, four sources, errors with file and line. */
#include <base/config.h>
#include <base/fail.h>
#include <base/ini.h>
#include <mend/error.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>
#include "scratch.h"

static mend_config config;

static const char *ini(const char *text)
{
    const char *path = in_scratch("mend.ini");
    put_file(path, text);
    chmod(path, 0600);
    return path;
}

static void test_later_sources_win(void **state)
{
    (void)state;
    unsetenv("MEND_LOG_LEVEL");
    unsetenv("MEND_CONFIG");
    assert_int_equal(mend_config_load(&config, NULL), MEND_OK);
    assert_string_equal(mend_config_string(&config, MEND_KEY_LOG_LEVEL), "warning");
    mend_config_free(&config);
    const char *path = ini("# a comment\n[log]\nlevel = info\n");
    assert_int_equal(mend_config_load(&config, path), MEND_OK);
    assert_string_equal(mend_config_string(&config, MEND_KEY_LOG_LEVEL), "info");
    mend_config_free(&config);
    setenv("MEND_LOG_LEVEL", "debug", 1);
    setenv("MEND_CONFIG", path, 1);
    assert_int_equal(mend_config_load(&config, NULL), MEND_OK);
    assert_string_equal(mend_config_string(&config, MEND_KEY_LOG_LEVEL), "debug");
    assert_int_equal(mend_config_set_named(&config, "log.level", "error", "--log"), MEND_OK);
    assert_string_equal(mend_config_string(&config, MEND_KEY_LOG_LEVEL), "error");
    mend_config_free(&config);
    unsetenv("MEND_LOG_LEVEL");
    unsetenv("MEND_CONFIG");
}

/* The message begins with "FILE:LINE" or contains the given text. */
static void refuses(const char *text, int line, const char *word)
{
    const char *path = ini(text);
    char where[600];
    snprintf(where, sizeof where, "%s:%d: ", path, line);
    assert_int_equal(mend_config_load(&config, path), MEND_ERR_CONFIG);
    if (strncmp(mend_error_text(), where, strlen(where)) != 0 || !strstr(mend_error_text(), word))
        fail_msg("unclear message: %s (wanted %s … %s)", mend_error_text(), where, word);
}

static void test_errors_name_file_and_line(void **state)
{
    (void)state;
    refuses("[log]\nlevel = info\nlevle = info\n", 3, "log.levle");
    refuses("\n\n[lgo]\n; comment\nlevel = info\n", 5, "lgo.level");
    refuses("[log]\nlevel\n", 2, "parse");
    refuses("[log\nlevel = info\n", 1, "parse");
    refuses("level = info\n", 1, "level");
    assert_int_equal(mend_config_load(&config, in_scratch("none.ini")), MEND_ERR_NOT_FOUND);
    const char *path = ini("");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fwrite("[log]\0\n", 1, 7, f);
    fclose(f);
    assert_int_equal(mend_config_load(&config, path), MEND_ERR_CONFIG);
    assert_int_equal(symlink(path, in_scratch("link.ini")), 0);
    assert_int_equal(mend_config_load(&config, in_scratch("link.ini")),
                     MEND_ERR_CONFIG); /* followed */
}

static void test_wrong_variable_is_named(void **state)
{
    (void)state;
    char long_value[5000];
    memset(long_value, 'x', sizeof long_value - 1);
    long_value[sizeof long_value - 1] = 0;
    assert_int_equal(mend_config_load(&config, NULL), MEND_OK);
    assert_int_equal(mend_config_set_named(&config, "no.such", "1", "--no-such"), MEND_ERR_CONFIG);
    assert_non_null(strstr(mend_error_text(), "--no-such"));
    assert_int_equal(mend_config_set_named(&config, "nodot", "1", "x"), MEND_ERR_CONFIG);
    assert_int_equal(mend_config_set_named(&config, long_value, "1", "x"), MEND_ERR_CONFIG);
    mend_config_free(&config);
}

static void test_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } times[] = {{"90", 90},    {"90s", 90},   {"1.5 h", 5400}, {"250 ms", 0.25},
                 {"2min", 120}, {"1d", 86400}, {"0", 0}};
    double seconds;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        assert_int_equal(mend_parse_seconds(times[i].text, &seconds), MEND_OK);
        assert_true(fabs(seconds - times[i].seconds) < 1e-9);
    }
    unsigned long long bytes;
    assert_int_equal(mend_parse_bytes("64 MiB", &bytes), MEND_OK);
    assert_true(bytes == 64ull << 20);
    assert_int_equal(mend_parse_bytes("2G", &bytes), MEND_OK);
    assert_true(bytes == 2000000000ull);
    static const char *const nonsense[] = {"",    "x",     "-1",      "1 parsec", "nan",
                                           "inf", "1e999", "5 min 3", "0x"};
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        assert_int_equal(mend_parse_seconds(nonsense[i], &seconds), MEND_ERR_CONFIG);
        assert_int_equal(mend_parse_bytes(nonsense[i], &bytes), MEND_ERR_CONFIG);
    }
    assert_int_equal(mend_parse_bytes("1e19", &bytes), MEND_ERR_CONFIG);
    long integer;
    bool boolean;
    assert_int_equal(mend_parse_integer("-42", &integer), MEND_OK);
    assert_int_equal(integer, -42);
    assert_int_equal(mend_parse_integer("42x", &integer), MEND_ERR_CONFIG);
    assert_int_equal(mend_parse_integer("99999999999999999999", &integer), MEND_ERR_CONFIG);
    assert_int_equal(mend_parse_boolean("Yes", &boolean), MEND_OK);
    assert_true(boolean);
    assert_int_equal(mend_parse_boolean("off", &boolean), MEND_OK);
    assert_false(boolean);
    assert_int_equal(mend_parse_boolean("perhaps", &boolean), MEND_ERR_CONFIG);
}

/* Every row of the table: a default that its own type accepts, a help text, a name that is used
 * once. */
static void test_table(void **state)
{
    (void)state;
    for (int i = 0; i < MEND_CONFIG_KEYS; i++) {
        enum mend_config_key key = (enum mend_config_key)i;
        assert_true(strlen(mend_config_key_help(key)) > 5);
        assert_true(strlen(mend_config_key_section(key)) > 0 &&
                    strlen(mend_config_key_name(key)) > 0);
        for (int j = 0; j < i; j++)
            assert_false(strcmp(mend_config_key_section(key),
                                mend_config_key_section((enum mend_config_key)j)) == 0 &&
                         strcmp(mend_config_key_name(key),
                                mend_config_key_name((enum mend_config_key)j)) == 0);
    }
    assert_int_equal(mend_config_load(&config, NULL), MEND_OK); /* which checks all defaults */
    mend_config_free(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_later_sources_win),
                                       cmocka_unit_test(test_errors_name_file_and_line),
                                       cmocka_unit_test(test_wrong_variable_is_named),
                                       cmocka_unit_test(test_units), cmocka_unit_test(test_table)};
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
