/* Brings a command line into one form, by getopt_long and the table in options.def. */
#include "arguments.h"
#include "tool.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FLAG = no_argument, VALUE = required_argument };

static const struct row {
    const char *command, *name;
    char letter;
    int kind;
} rows[] = {
#define OPTION(command_, name_, letter_, kind_) {#command_, name_, letter_, kind_},
#include "options.def"
#undef OPTION
};
enum { ROWS = sizeof rows / sizeof *rows, HELP = 1000, FIRST = 1001 };

/* Commands that run another program: their options end at the first word that is not one. */
static bool takes_a_program(const char *command)
{
    return strcmp(command, "run") == 0 || strcmp(command, "exec") == 0 ||
           strcmp(command, "chaos") == 0;
}

/* Copy the command's rows for getopt_long; returns their number. */
static int describe(const char *command, struct option *options, char *letters)
{
    int n = 0;
    char *end = stpcpy(letters, takes_a_program(command) ? "+:" : ":");
    for (int i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].command, command) != 0)
            continue;
        options[n++] = (struct option){rows[i].name, rows[i].kind, NULL, FIRST + i};
        if (rows[i].letter) {
            *end++ = rows[i].letter;
            if (rows[i].kind == VALUE)
                *end++ = ':';
        }
    }
    *end = 0;
    options[n] = (struct option){"help", no_argument, NULL, HELP};
    return n;
}

static const struct row *row_of(const char *command, int found)
{
    if (found >= FIRST)
        return &rows[found - FIRST];
    for (int i = 0; i < ROWS; i++)
        if (strcmp(rows[i].command, command) == 0 && rows[i].letter == found)
            return &rows[i];
    return NULL;
}

/* "-n" or "--name". */
static char *canonical(const struct row *row)
{
    char *word = malloc(strlen(row->name) + 3);
    if (word && row->letter)
        word[0] = '-', word[1] = row->letter, word[2] = 0;
    else if (word)
        strcat(strcpy(word, "--"), row->name);
    return word;
}

/* A wrong option, as the user typed it. */
static int refuse(const char *command, int found, char **argv)
{
    char letter[] = {'-', (char)optopt, 0};
    const char *word = optopt > 0 && optopt < HELP ? letter : argv[optind - 1];
    if (found == ':')
        return tool_wrong_use(command, "%s needs a value", word);
    return tool_wrong_use(command, "unknown option %s", word);
}

int tool_arguments(int *argc, char ***argv)
{
    char *command = (*argv)[0], letters[64];
    struct option options[ROWS + 2] = {0};
    if (describe(command, options, letters) == 0)
        return TOOL_OK;
    static char **words; /* for the rest of the process's life */
    words = calloc((size_t)*argc * 2 + 4, sizeof *words);
    if (!words)
        return tool_failed(command, "no memory");
    int count = 0, found;
    words[count++] = command;
    for (int i = 1; i < *argc && strcmp((*argv)[i], "--") != 0; i++)
        if (strcmp((*argv)[i], "-np") == 0) /* like mpirun */
            (*argv)[i] = "-n";
    opterr = 0;
    optind = 1;
    while ((found = getopt_long(*argc, *argv, letters, options, NULL)) != -1) {
        if (found == HELP) { /* whatever else was typed */
            words[1] = "--help";
            words[2] = NULL;
            *argv = words;
            *argc = 2;
            return TOOL_OK;
        }
        const struct row *row = found == '?' || found == ':' ? NULL : row_of(command, found);
        if (!row)
            return refuse(command, found, *argv);
        if (!(words[count++] = canonical(row)))
            return tool_failed(command, "no memory");
        if (row->kind == VALUE)
            words[count++] = optarg;
    }
    if (takes_a_program(command) && optind < *argc)
        words[count++] = "--";
    while (optind < *argc)
        words[count++] = (*argv)[optind++];
    *argv = words;
    *argc = count;
    return TOOL_OK;
}
