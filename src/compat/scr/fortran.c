/* The SCR face for Fortran: gfortran's names; a text's length comes after the arguments. */
#include "client.h"

#include <scr.h>

#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* A text without the blanks at its end; free it. */
static char *from_fortran(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == ' ')
        length--;
    return strndup(text, length);
}

static void to_fortran(const char *from, char *text, size_t length)
{
    memset(text, ' ', length); /* a character variable has no end mark */
    for (size_t i = 0; i < length && from[i]; i++)
        text[i] = from[i];
}

EXPORT void scr_init_(int *ierror)
{
    *ierror = SCR_Init();
}

EXPORT void scr_finalize_(int *ierror)
{
    *ierror = SCR_Finalize();
}

/* A query gives the value; a value that is set is given back. No value: blanks, and an error for a query. */
EXPORT void scr_config_(const char *config, char *value, int *ierror, size_t config_length,
                        size_t value_length)
{
    char *wanted = from_fortran(config, config_length);
    bool query = wanted && !strchr(wanted, '=');
    const char *answer = wanted ? SCR_Config(wanted) : NULL;
    to_fortran(answer ? answer : "", value, value_length);
    *ierror = answer || (wanted && wanted[strlen(wanted) - 1] == '=') ? SCR_SUCCESS : SCR_FAILURE;
    if (query)
        free((char *)answer);
    free(wanted);
}

EXPORT void scr_get_version_(char *version, int *ierror, size_t length)
{
    to_fortran(SCR_Get_version(), version, length);
    *ierror = SCR_SUCCESS;
}

EXPORT void scr_route_file_(const char *name, char *file, int *ierror, size_t name_length,
                            size_t file_length)
{
    char *wanted = from_fortran(name, name_length), routed[SCR_MAX_FILENAME] = "";
    *ierror = wanted ? SCR_Route_file(wanted, routed) : SCR_FAILURE;
    if (*ierror == SCR_SUCCESS && strlen(routed) > file_length)
        *ierror = SCR_FAILURE;
    if (*ierror == SCR_SUCCESS)
        to_fortran(routed, file, file_length);
    free(wanted);
}

EXPORT void scr_have_restart_(int *flag, char *name, int *ierror, size_t name_length)
{
    char found[SCR_MAX_FILENAME] = "";
    *ierror = SCR_Have_restart(flag, found);
    to_fortran(found, name, name_length);
}

EXPORT void scr_start_restart_(char *name, int *ierror, size_t name_length)
{
    char found[SCR_MAX_FILENAME] = "";
    *ierror = SCR_Start_restart(found);
    to_fortran(found, name, name_length);
}

EXPORT void scr_complete_restart_(const int *valid, int *ierror)
{
    *ierror = SCR_Complete_restart(*valid);
}

EXPORT void scr_need_checkpoint_(int *flag, int *ierror)
{
    *ierror = SCR_Need_checkpoint(flag);
}

EXPORT void scr_start_checkpoint_(int *ierror)
{
    *ierror = SCR_Start_checkpoint();
}

EXPORT void scr_complete_checkpoint_(const int *valid, int *ierror)
{
    *ierror = SCR_Complete_checkpoint(*valid);
}

EXPORT void scr_start_output_(const char *name, const int *flags, int *ierror, size_t name_length)
{
    char *wanted = from_fortran(name, name_length);
    *ierror = wanted ? SCR_Start_output(wanted, *flags) : SCR_FAILURE;
    free(wanted);
}

EXPORT void scr_complete_output_(const int *valid, int *ierror)
{
    *ierror = SCR_Complete_output(*valid);
}

EXPORT void scr_should_exit_(int *flag, int *ierror)
{
    *ierror = SCR_Should_exit(flag);
}

typedef int on_name(const char *name);

static void by_name(on_name *call, const char *name, size_t length, int *ierror)
{
    char *wanted = from_fortran(name, length);
    *ierror = wanted ? call(wanted) : SCR_FAILURE;
    free(wanted);
}

EXPORT void scr_current_(const char *name, int *ierror, size_t name_length)
{
    by_name(SCR_Current, name, name_length, ierror);
}

EXPORT void scr_drop_(const char *name, int *ierror, size_t name_length)
{
    by_name(SCR_Drop, name, name_length, ierror);
}

EXPORT void scr_delete_(const char *name, int *ierror, size_t name_length)
{
    by_name(SCR_Delete, name, name_length, ierror);
}
