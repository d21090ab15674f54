/* mend: dispatch to the subcommands. */
#include "arguments.h"
#include "tool.h"

#include <base/config.h>
#include <mend/error.h>

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
#define COMMAND(name, summary) {#name, summary, mend_cmd_##name},
#include "commands.def"
#undef COMMAND
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void report(const char *command, const char *format, va_list args)
{
    fprintf(stderr, "mend%s%s: ", command ? " " : "", command ? command : "");
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

int tool_wrong_use(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(command, format, args);
    va_end(args);
    fprintf(stderr, "Try 'mend %s%s--help'.\n", command ? command : "", command ? " " : "");
    return TOOL_WRONG_USE;
}

int tool_wrong_value(const char *command, const char *option, const char *value, const char *needs)
{
    return tool_wrong_use(command, "%s needs %s, not \"%s\"", option, needs, value);
}

int tool_failed(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(command, format, args);
    va_end(args);
    return TOOL_FAILED;
}

int tool_print_json(const char *command, json_t *json)
{
    enum { DIGITS = 15 };
    int failed = !json || json_dumpf(json, stdout, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
    json_decref(json);
    if (failed)
        return tool_failed(command, "no memory to print the result");
    putchar('\n');
    return TOOL_OK;
}

int mend_cmd_version(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        puts("Usage: mend version [--json]\nPrint Mend's version.");
        return TOOL_OK;
    }
    if (argc > 2 || (argc == 2 && strcmp(argv[1], "--json") != 0))
        return tool_wrong_use("version", "unknown argument %s", argv[1]);
    if (argc == 1) {
        printf("mend %s\n", mend_version_text());
        return TOOL_OK;
    }
    return tool_print_json("version",
                           json_pack("{s:i,s:s}", "mend", 1, "version", mend_version_text()));
}

static int overview(FILE *out)
{
    fputs("Usage: mend [--config FILE] COMMAND [OPTIONS…]\n\n"
          "Mend keeps MPI jobs alive when processes, nodes or disks die.\n\n"
          "Commands:\n",
          out);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-11s %s\n", commands[i].name, commands[i].summary);
    fputs("\n'mend COMMAND --help' describes each. Exit codes: 0 ok, 1 failed, 2 wrong usage,\n"
          "3 the job stopped after a checkpoint, as requested.\n",
          out);
    return TOOL_OK;
}

/* Report a wrong configuration now, before anything is started or created. */
static int check_configuration(void)
{
    mend_config config;
    if (mend_config_load(&config, NULL) != MEND_OK)
        return tool_wrong_use(NULL, "%s", mend_error_text());
    mend_config_free(&config);
    return TOOL_OK;
}

static int run_command(const struct command *command, int argc, char **argv)
{
    int rc = tool_arguments(&argc, &argv);
    if (rc == TOOL_OK)
        rc = check_configuration();
    return rc ? rc : command->run(argc, argv);
}

/* If one of these descriptors is closed, the next file that is opened would get its number, and text for the terminal
 * would go into that file. Open a substitute that can be neither read nor written. */
static void fill_descriptors(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

/* Whoever started us may ignore SIGCHLD or block signals, and we inherit both: the kernel would reap our children, so that
 * we could not wait for them, and nobody could end us. With a limit of the size of files (ulimit -f) a write that is too
 * long is an error, for us and for the ranks that write images; it must not end the process. */
static void reset_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    signal(SIGCHLD, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Output that cannot be written is a failure, whatever else happened. */
static int finish(int rc)
{
    bool lost = ferror(stdout);
    int error = fflush(stdout) ? errno : 0;
    if ((lost || error) && rc == TOOL_OK)
        rc = tool_failed(NULL, "standard output could not be written%s%s", error ? ": " : "",
                         error ? strerror(error) : "");
    return rc;
}

static int choose(int argc, char **argv)
{
    if (argc > 1 && strncmp(argv[1], "--config=", 9) == 0) {
        if (setenv("MEND_CONFIG", argv[1] + 9, 1))
            return tool_failed(NULL, "no memory");
        argv++;
        argc--;
    } else if (argc > 2 && strcmp(argv[1], "--config") == 0) {
        if (setenv("MEND_CONFIG", argv[2], 1)) /* also for the job that we start */
            return tool_failed(NULL, "no memory");
        argv += 2;
        argc -= 2;
    }
    if (argc < 2) {
        overview(stderr);
        return TOOL_WRONG_USE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0)
        return overview(stdout);
    if (strcmp(argv[1], "--version") == 0)
        return mend_cmd_version(1, argv + 1);
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return run_command(&commands[i], argc - 1, argv + 1);
    return tool_wrong_use(NULL, "unknown command \"%s\"", argv[1]);
}

int main(int argc, char **argv)
{
    fill_descriptors();
    reset_signals();
    return finish(choose(argc, argv));
}
