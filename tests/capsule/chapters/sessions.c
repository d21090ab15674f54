/* Chapter 11 of MPI-4: sessions. The program has three lives: sessions only, without MPI_Init; MPI_Init and a session beside it; and a
 * session that outlives MPI_Finalize. Checkpoints come in all of them.
 */
#include "chapter.h"

enum { N = 50 };
static int handled;
static void on_error(MPI_Session *session, int *code, ...)
{
    int class;
    MPI_Error_class(*code, &class);
    handled += *session != MPI_SESSION_NULL && class == MPI_ERR_ARG;
}

static MPI_Comm comm_of(MPI_Session session, const char *pset, const char *tag)
{
    MPI_Group g;
    MPI_Comm c;
    MPI_Group_from_session_pset(session, pset, &g);
    MPI_Comm_create_from_group(g, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
    MPI_Group_free(&g);
    CHECK(g == MPI_GROUP_NULL);
    return c;
}

static void ask(MPI_Session session)
{
    int n, known = 0, len, flag;
    char name[MPI_MAX_PSET_NAME_LEN], value[32];
    MPI_Info info;
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n);
    for (int k = 0; k < n; k++) {
        len = 0;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, k, &len, NULL);
        CHECK(len > 1 && len <= MPI_MAX_PSET_NAME_LEN);
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, k, &len, name);
        CHECK((int)strlen(name) == len - 1);
        int world = !strcmp(name, "mpi://WORLD"), self = !strcmp(name, "mpi://SELF");
        if (!world && !self)
            continue;
        known++;
        MPI_Session_get_pset_info(session, name, &info);
        MPI_Info_get(info, "mpi_size", 31, value, &flag);
        CHECK(flag && atoi(value) == (world ? ranks : 1));
        MPI_Info_free(&info);
    }
    SAME(known, 2);
    MPI_Session_get_info(session, &info);
    MPI_Info_free(&info);
}

/* Collectives and messages on a communicator of a session, and on others that are made of it. */
static void work(MPI_Comm all, int r)
{
    int one = me + r, sum = 0, out[N], in[N];
    MPI_Request q;
    MPI_Comm half, dup;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    SAME(sum, ranks * (ranks - 1) / 2 + ranks * r);
    for (int i = 0; i < N; i++)
        out[i] = me * 1000 + r * 10 + i;
    MPI_Irecv(in, N, MPI_INT, (me + ranks - 1) % ranks, 5, all, &q);
    MPI_Barrier(all);
    MPI_Send(out, N, MPI_INT, (me + 1) % ranks, 5, all);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    SAME(in[N - 1], (me + ranks - 1) % ranks * 1000 + r * 10 + N - 1);
    MPI_Comm_split(all, me % 2, me, &half);
    MPI_Comm_dup(all, &dup);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_MAX, half);
    mix_int(sum);
    MPI_Bcast(&sum, 1, MPI_INT, r % ranks, dup);
    mix_int(sum);
    MPI_Comm_free(&half);
    MPI_Comm_free(&dup);
}

/* The even ranks and the odd ones, made of groups. */
static void two_sides(MPI_Session session, int r)
{
    MPI_Group all, here, there;
    MPI_Comm inter;
    int even[64], odd[64], n_even = 0, n_odd = 0, n, value = me + r, sum = 0;
    for (int k = 0; k < ranks; k++)
        *(k % 2 ? &odd[n_odd++] : &even[n_even++]) = k;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Group_incl(all, me % 2 ? n_odd : n_even, me % 2 ? odd : even, &here);
    MPI_Group_incl(all, me % 2 ? n_even : n_odd, me % 2 ? even : odd, &there);
    MPI_Intercomm_create_from_groups(here, 0, there, 0, "two sides", MPI_INFO_NULL,
                                     MPI_ERRORS_RETURN, &inter);
    MPI_Comm_remote_size(inter, &n);
    SAME(n, me % 2 ? n_even : n_odd);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter);
    mix_int(sum);
    MPI_Comm_free(&inter);
    MPI_Group_free(&here);
    MPI_Group_free(&there);
    MPI_Group_free(&all);
}

static void with_handler(MPI_Session session)
{
    MPI_Errhandler h, told;
    handled = 0;
    MPI_Session_create_errhandler(on_error, &h);
    MPI_Session_set_errhandler(session, h);
    MPI_Session_get_errhandler(session, &told);
    CHECK(told == h);
    MPI_Errhandler_free(&told);
    MPI_Session_call_errhandler(session, MPI_ERR_ARG);
    SAME(handled, 1);
    MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&h);
    CHECK(MPI_Session_f2c(MPI_Session_c2f(session)) == session);
}

static MPI_Session begin(const char *level)
{
    MPI_Session s;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", level);
    CHECK(MPI_Session_init(info, MPI_ERRORS_RETURN, &s) == MPI_SUCCESS);
    MPI_Info_free(&info);
    return s;
}
static void end(MPI_Session *s, MPI_Comm *c)
{
    MPI_Comm_free(c);
    CHECK(MPI_Session_finalize(s) == MPI_SUCCESS && *s == MPI_SESSION_NULL);
}

static void sessions_only(void)
{
    MPI_Session one = begin("MPI_THREAD_SINGLE"), two;
    MPI_Comm all = comm_of(one, "mpi://WORLD", "all"), self = comm_of(one, "mpi://SELF", "self");
    int flag, n;
    MPI_Comm_rank(all, &me);
    MPI_Comm_size(all, &ranks);
    MPI_Comm_size(self, &n);
    SAME(n, 1);
    for (int r = 0; chapter_round(&r); r++) {
        MPI_Initialized(&flag);
        CHECK(!flag);
        ask(one);
        work(all, r);
        two_sides(one, r);
        with_handler(one);
        two = begin("MPI_THREAD_SINGLE");
        MPI_Comm other = comm_of(two, "mpi://WORLD", "other");
        work(other, r + 1);
        end(&two, &other);
    }
    MPI_Comm_free(&self);
    end(&one, &all);
}

static void beside_the_world(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Session s = begin("MPI_THREAD_SINGLE");
    MPI_Comm all = comm_of(s, "mpi://WORLD", "beside"),
             outlives = comm_of(s, "mpi://WORLD", "late");
    for (int r = 0; chapter_round(&r); r++) {
        work(all, r);
        work(MPI_COMM_WORLD, r);
    }
    MPI_Comm_free(&all);
    MPI_Finalize();
    for (int r = 0; chapter_round(&r); r++)
        work(outlives, r);
    end(&s, &outlives);
}

int main(int argc, char **argv)
{
    uint64_t all = 0;
    long bad = 0;
    if (argc > 1)
        rounds = atoi(argv[1]);
    sessions_only();
    beside_the_world(argc, argv);
    MPI_Session s = begin("MPI_THREAD_SINGLE");
    MPI_Comm c = comm_of(s, "mpi://WORLD", "last");
    sum += (uint64_t)me * 0x9e3779b97f4a7c15u;
    MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_BXOR, c);
    MPI_Allreduce(&failures, &bad, 1, MPI_LONG, MPI_SUM, c);
    if (me == 0) {
        printf("sessions: %d rounds, checksum %016llx, %s\n", rounds, (unsigned long long)all,
               bad ? "FAILED" : "ok");
        fflush(stdout);
    }
    end(&s, &c);
    return bad != 0;
}
