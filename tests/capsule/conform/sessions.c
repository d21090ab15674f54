/* sessions.c - sessions beside MPI_COMM_WORLD. Which process sets there are besides the two of the standard is the library's. */
#include "conform.h"

static int calls, last;
static void on_error(MPI_Session *session, int *code, ...)
{
    calls++;
    MPI_Error_class(*code, &last);
}

static void names(MPI_Session s)
{
    int n, len;
    char name[MPI_MAX_PSET_NAME_LEN], size[16] = "";
    CALL(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n));
    for (int k = 0; k < n; k++) {
        MPI_Info info;
        int flag;
        len = 0;
        MPI_Session_get_nth_pset(s, MPI_INFO_NULL, k, &len, NULL);
        int needed = len;
        MPI_Session_get_nth_pset(s, MPI_INFO_NULL, k, &len, name);
        if (strncmp(name, "mpi:", 4))
            continue;
        MPI_Session_get_pset_info(s, name, &info);
        MPI_Info_get(info, "mpi_size", 15, size, &flag);
        say("%s: %d characters, size %s", name, needed, size);
        MPI_Info_free(&info);
    }
#ifdef MPICH /* Open MPI's own writes more than there is room for */
    len = 6;
    MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 0, &len, name);
    say("cut: %s, %d", name, len);
#endif
}

static void groups(MPI_Session s)
{
    static const char *const sets[] = {"mpi://WORLD", "mpi://SELF"};
    for (int k = 0; k < 2; k++) {
        MPI_Group g, all;
        MPI_Comm c;
        int rank, size, same, sum = 0, mine = me + 1;
        CALL(MPI_Group_from_session_pset(s, sets[k], &g));
        MPI_Group_rank(g, &rank);
        MPI_Group_size(g, &size);
        MPI_Comm_group(k ? MPI_COMM_SELF : MPI_COMM_WORLD, &all);
        MPI_Group_compare(g, all, &same);
        say("%s: %d of %d, %s", sets[k], rank, size, same == MPI_IDENT ? "identical" : "other");
        CALL(MPI_Comm_create_from_group(g, "a tag", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, c);
        say("sum %d", sum);
        CALL(MPI_Send(&mine, 1, MPI_INT, size, 0, c)); /* the handler is that of the call */
        MPI_Comm_free(&c);
        MPI_Group_free(&all);
        MPI_Group_free(&g);
    }
}

/* Names of process sets are written in any way. */
static void small_letters(MPI_Session s)
{
    MPI_Group g;
    int size = -1;
    CALL(MPI_Group_from_session_pset(s, "mpi://self", &g));
    MPI_Group_size(g, &size);
    say("%d", size);
    MPI_Group_free(&g);
}

static void two_sides(MPI_Session s)
{
    MPI_Group all, here, there;
    MPI_Comm inter, merged;
    int first = 0, rest[64], sum = 0, n;
    for (int k = 1; k < ranks; k++)
        rest[k - 1] = k;
    MPI_Group_from_session_pset(s, "mpi://WORLD", &all);
    MPI_Group_incl(all, me ? ranks - 1 : 1, me ? rest : &first, &here);
    MPI_Group_difference(all, here, &there);
    CALL(MPI_Intercomm_create_from_groups(here, 0, there, 0, "sides", MPI_INFO_NULL,
                                          MPI_ERRORS_RETURN, &inter));
    MPI_Comm_remote_size(inter, &n);
    MPI_Intercomm_merge(inter, me > 0, &merged);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, merged);
    say("there: %d; sum %d", n, sum);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Group_free(&all);
    MPI_Group_free(&here);
    MPI_Group_free(&there);
}

static void handlers(MPI_Session s)
{
    MPI_Errhandler h, told;
    CALL(MPI_Session_get_errhandler(s, &told));
#ifdef OPEN_MPI /* MPICH 4.2 forgets the one that was given */
    say("as given: %d", told == MPI_ERRORS_RETURN);
#endif
    CALL(MPI_Session_create_errhandler(on_error, &h));
    CALL(MPI_Session_set_errhandler(s, h));
    MPI_Session_get_errhandler(s, &told);
    say("as set: %d", told == h);
    MPI_Errhandler_free(&told);
    calls = 0;
    CALL(MPI_Session_call_errhandler(s, MPI_ERR_ARG));
    say("called %d times, with %s", calls, name_of(last));
    CALL(MPI_Session_set_errhandler(s, MPI_ERRORS_RETURN));
    MPI_Errhandler_free(&h);
}

void part_sessions(void)
{
    MPI_Session s, other;
    MPI_Info info;
    int flag;
    char level[64] = "";
    CALL(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
    CALL(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other));
    say("two: %d", s != other);
    say("integers: %d %d", MPI_Session_f2c(MPI_Session_c2f(s)) == s,
        MPI_Session_f2c(MPI_Session_c2f(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
    names(s);
    groups(s);
    small_letters(s);
    two_sides(other);
    handlers(s);
    CALL(MPI_Session_get_info(s, &info));
    MPI_Info_free(&info);
#ifdef OPEN_MPI
    MPI_Info_create(&info);
    CALL(MPI_Session_set_info(s, info));
    MPI_Info_free(&info);
    MPI_Group g;
    CALL(MPI_Group_from_session_pset(s, "mpi://nothing", &g)); /* MPICH's own ends the job */
#endif
    CALL(MPI_Session_finalize(&other));
    CALL(MPI_Session_finalize(&s));
    say("null: %d %d", s == MPI_SESSION_NULL, other == MPI_SESSION_NULL);
}
