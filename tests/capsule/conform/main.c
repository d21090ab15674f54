/* main.c - PROGRAM [PART...]: all parts, or some. */
#include "conform.h"
#include <stdarg.h>

int me, ranks;
MPI_Comm world, early;
static const char *part;

void say(const char *format, ...)
{
    va_list a;
    va_start(a, format);
    printf("%s: ", part);
    vprintf(format, a);
    printf("\n");
    fflush(stdout);
    va_end(a);
}

const char *name_of(int code)
{
    int class = -1;
    if (code == MPI_SUCCESS)
        return "ok";
    MPI_Error_class(code, &class);
#define ERROR_CLASS(name, value, ...) \
    if (class == name)                \
        return #name;
#include "table/errors.def"
#undef ERROR_CLASS
    return "another error";
}

static const char *field(int value, char *room)
{
    if (value == UNTOUCHED)
        return "untouched";
    if (value == MPI_ANY_SOURCE || value == MPI_ANY_TAG)
        return "any";
    if (value == MPI_PROC_NULL)
        return "null";
    sprintf(room, "%d", value);
    return room;
}

/* Of a single completion it is the program's own. Open MPI keeps it, MPICH sets it to success in some functions. */
static const char *error_in(const MPI_Status *s)
{
#ifdef OPEN_MPI
    return s->MPI_ERROR == UNTOUCHED ? "untouched" : name_of(s->MPI_ERROR);
#else
    return s->MPI_ERROR == UNTOUCHED ? "ok" : name_of(s->MPI_ERROR);
#endif
}

void say_status(const char *what, int code, const MPI_Status *s)
{
    char a[16], b[16];
    say("%s: %s; source %s, tag %s, error %s", what, name_of(code), field(s->MPI_SOURCE, a),
        field(s->MPI_TAG, b), error_in(s));
}

static int wanted(int n, char **names, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], name))
            return 1;
    return n == 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_SELF, &early);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
#define PART(name)                           \
    if (wanted(argc - 1, argv + 1, #name)) { \
        part = #name;                        \
        part_##name();                       \
        MPI_Barrier(MPI_COMM_WORLD);         \
    }
    PARTS(PART)
    part = "end";
    say("of rank %d of %d", me, ranks);
    MPI_Comm_free(&world);
    MPI_Comm_free(&early);
    return MPI_Finalize();
}
