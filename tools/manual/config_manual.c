/* The manual page mend.conf(5), in scdoc's language, from the one table of keys. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct key {
    const char *section, *name, *type, *default_value, *help;
} keys[] = {
#define CONFIG_KEY(id, section, name, type, default_value, help) \
    {section, name, #type, default_value, help},
#include <base/config_keys.def>
#undef CONFIG_KEY
};

static const char head[] =
    "mend.conf(5)\n\n# NAME\n\nmend.conf - configuration of Mend\n\n# DESCRIPTION\n\n"
    "The file is an INI file, named by *MEND_CONFIG* or by an option. Each key is also an "
    "environment\n"
    "variable, which overrides the file. A command's option overrides both. An unknown key or "
    "a value\n"
    "that does not parse is an error that names the file and the line.\n\n"
    "Write times as 90, 90 s, 250 ms, 5 min, 2 h or 1 d, sizes as 4096, 64 MiB or 2 G, "
    "switches as\n"
    "yes or no.\n";

/* scdoc takes _ and * for markup */
static void put_escaped(const char *text)
{
    for (; *text; text++) {
        if (strchr("_*\\#", *text))
            putchar('\\');
        putchar(*text);
    }
}

static void put_upper(const char *text)
{
    for (; *text; text++) {
        if (*text == '-' || *text == '.' || *text == '_')
            fputs("\\_", stdout);
        else
            putchar(toupper((unsigned char)*text));
    }
}

static void put_key(const struct key *key)
{
    static const struct {
        const char *type, *word;
    } words[] = {{"STRING", "text"},
                 {"INTEGER", "whole number"},
                 {"SECONDS", "time"},
                 {"BYTES", "size"},
                 {"BOOLEAN", "yes or no"}};
    const char *word = key->type;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].type, key->type) == 0)
            word = words[i].word;
    printf("*");
    put_escaped(key->name);
    printf("* = %s, default ", word);
    put_escaped(*key->default_value ? key->default_value : "(empty)");
    printf("\n\t");
    put_escaped(key->help);
    printf(".++\nVariable: *MEND\\_");
    put_upper(key->section);
    printf("\\_");
    put_upper(key->name);
    printf("*\n\n");
}

int main(void)
{
    const char *section = "";
    fputs(head, stdout);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(section, keys[i].section) != 0)
            printf("\n# SECTION [%s]\n\n", section = keys[i].section);
        put_key(&keys[i]);
    }
    puts("# SEE ALSO\n\n*mend*(1)");
    return ferror(stdout) != 0;
}
