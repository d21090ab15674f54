/* collectives.c - every collective of the table with arguments at the edge: nothing to send, MPI_IN_PLACE and what is
 * ignored with it, what is ignored on ranks that are not the root, no communicator. Made from the table: a new row is
 * tried, too.
 */
#include "conform.h"
#include "border/each.h"
#include <stdint.h>
#include <strings.h>

#ifdef WIDE /* wide/wide.h */
typedef MPI_Count number;
typedef MPI_Aint place;
#define CALLED(Name)       MPI_##Name##_c
#define MPI_Barrier_c      MPI_Barrier
#define MPI_Ibarrier_c     MPI_Ibarrier
#define MPI_Barrier_init_c MPI_Barrier_init
#else
typedef int number, place;
#define CALLED(Name) MPI_##Name
#endif

/* what the arguments of the table are called */
struct args {
    const void *s;
    void *r, *buf;
    number sn, rn, n;
    int root;
    MPI_Datatype st, rt, type;
    const number *sns, *rns;
    const place *sds, *rds;
    const MPI_Aint *wide_sds, *wide_rds;
    const MPI_Datatype *sts, *rts;
    MPI_Op op;
    MPI_Comm comm;
    MPI_Info info;
};
#define VALUE(kind, ...)    VALUE_##kind(__VA_ARGS__, )
#define MEMBER(x, ...)      a->x
#define VALUE_BUF           MEMBER
#define VALUE_CBUF          MEMBER
#define VALUE_INT           MEMBER
#define VALUE_INTS          MEMBER
#define VALUE_RANK          MEMBER
#define VALUE_TYPE          MEMBER
#define VALUE_TYPEIF        MEMBER
#define VALUE_TYPES         MEMBER
#define VALUE_OP            MEMBER
#define VALUE_COMM          MEMBER
#define VALUE_INFO          MEMBER
#define VALUE_NEWREQ(...)   q
#define VALUE_AINTS(x, ...) a->wide_##x

enum kind { BLOCKING, NONBLOCKING, PERSISTENT };
struct function {
    const char *name;
    enum kind kind;
    int (*call)(const struct args *a, MPI_Request *q);
};

#define FUNCTION(class, Name, name, ...)                                 \
    static int call_##Name(__attribute__((unused)) const struct args *a, \
                           __attribute__((unused)) MPI_Request *q)       \
    {                                                                    \
        return CALLED(Name)(LIST(VALUE, __VA_ARGS__));                   \
    }
#define PERSISTENT_COLL(Name, name, operation, ...) \
    FUNCTION(ABOVE, Name, name, __VA_ARGS__, (INFO, info), (NEWREQ, request))
#define PERSISTENT(...)
#include "table/coll.def"
#include "table/icoll.def"
#include "table/persistent.def"
#undef FUNCTION
#undef PERSISTENT_COLL

static const struct function functions[] = {
#define FUNCTION(class, Name, name, ...)            {#Name, CLASS_##class, call_##Name},
#define CLASS_COLLECTIVE                            BLOCKING
#define CLASS_NONBLOCKING                           NONBLOCKING
#define PERSISTENT_COLL(Name, name, operation, ...) {#Name, 2, call_##Name},
#include "table/coll.def"
#include "table/icoll.def"
#include "table/persistent.def"
};
enum { FUNCTIONS = sizeof functions / sizeof *functions, ROOM = 64 };

static int from[ROOM], to[ROOM];

/* What a function is, by its name. */
static const char *base_of(const struct function *f)
{
    return f->name + (f->kind == NONBLOCKING);
}
static int is(const struct function *f, const char *what)
{
    const char *base = base_of(f);
    size_t n = strlen(what);
    return !strncasecmp(base, what, n) &&
           (base[n] == 0 || !strcmp(base + n, "v") || !strcmp(base + n, "w") ||
            !strncmp(base + n, "_init", 5) || !strncmp(base + n, "v_init", 6) ||
            !strncmp(base + n, "w_init", 6));
}
static int is_w(const struct function *f)
{
    return strstr(f->name, "toallw") != NULL;
}
static int is_neighbor(const struct function *f)
{
    return !strncmp(f->name, "Neighbor", 8);
}

static void run(const char *how, const struct function *f, const struct args *a)
{
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Status status = FRESH;
    long sum = 0;
    int rc = f->call(a, &q);
    if (!rc && f->kind == PERSISTENT)
        rc = MPI_Start(&q);
    if (!rc && f->kind != BLOCKING)
        rc = MPI_Wait(&q, &status);
    for (int i = 0; i < ROOM; i++)
        sum = 31 * sum + to[i] + from[i];
    say("%s, %s: %s, result %ld", f->name, how, name_of(rc), sum);
    if (f->kind == PERSISTENT && q != MPI_REQUEST_NULL)
        MPI_Request_free(&q);
}

static number ones[8], zeros[8];
static place nowhere[8], places[8], bytes[8];
static MPI_Aint wide_places[8];
static MPI_Datatype ints[8], pairs[8];

static struct args plain(const struct function *f)
{
    for (int i = 0; i < ROOM; i++) {
        from[i] = 100 * me + i;
        to[i] = -1;
    }
    const place *at = is_w(f) ? bytes : places;
    return (struct args){.s = from,
                         .r = to,
                         .buf = to,
                         .sn = 1,
                         .rn = 1,
                         .n = 1,
                         .st = MPI_INT,
                         .rt = MPI_INT,
                         .type = MPI_INT,
                         .sns = ones,
                         .sds = at,
                         .rns = ones,
                         .rds = at,
                         .wide_sds = wide_places,
                         .wide_rds = wide_places,
                         .sts = ints,
                         .rts = ints,
                         .op = MPI_SUM,
                         .comm = world,
                         .info = MPI_INFO_NULL};
}
/* What may be anything. */
#define NO_TYPE MPI_DATATYPE_NULL
#define NOWHERE ((void *)(intptr_t)0x18)
static void ignore_sending(struct args *a)
{
    a->sn = -1;
    a->st = NO_TYPE;
    a->sns = NOWHERE;
    a->sds = NOWHERE;
    a->sts = NOWHERE;
}
static void ignore_receiving(struct args *a)
{
    a->rn = -1;
    a->rt = NO_TYPE;
    a->rns = NOWHERE;
    a->rds = NOWHERE;
    a->rts = NOWHERE;
}

static void ordinary(const struct function *f)
{
    struct args a = plain(f);
    run("plain", f, &a);
    if (is_w(f)) {
        a = plain(f);
        a.sts = a.rts = pairs;
        run("types of the program", f, &a);
    }
    a = plain(f);
    a.s = NULL;
    a.sn = a.rn = a.n = 0;
    a.sns = a.rns = zeros;
    a.sds = a.rds = nowhere;
    run("nothing", f, &a);
#ifndef OPEN_MPI /* some of its functions crash */
    a = plain(f);
    a.comm = MPI_COMM_NULL;
    run("no communicator", f, &a);
#endif
}

static void in_place(const struct function *f)
{
    struct args a = plain(f);
    int rooted = is(f, "Gather") || is(f, "Scatter") || is(f, "Reduce");
    if (is(f, "Barrier") || is(f, "Bcast"))
        return;
    if (is(f, "Scatter") ? me == a.root : !rooted || me == a.root)
        for (int i = 0; i < ROOM; i++)
            to[i] = 100 * me + i;
    if (is(f, "Scatter") && me == a.root) {
        a.r = MPI_IN_PLACE;
        ignore_receiving(&a);
    } else if (!rooted || (me == a.root && !is(f, "Scatter"))) {
        a.s = MPI_IN_PLACE;
        ignore_sending(&a);
    }
    run("in place", f, &a);
}

static void not_the_root(const struct function *f)
{
    struct args a = plain(f);
    a.root = 1;
    if (is(f, "Gather") && me != a.root) {
        a.r = NOWHERE;
        ignore_receiving(&a);
    } else if (is(f, "Scatter") && me != a.root) {
        a.s = NOWHERE;
        ignore_sending(&a);
    } else if (is(f, "Reduce") && me != a.root)
        a.r = NOWHERE;
    if (is(f, "Gather") || is(f, "Scatter") || is(f, "Reduce"))
        run("not the root", f, &a);
}

/* The last rank on one side, all others on the other, where rank 1 is the root. */
static void between_groups(const struct function *f, MPI_Comm inter)
{
    struct args a = plain(f);
    int gather = is(f, "Gather") || is(f, "Reduce"), scatter = is(f, "Scatter") || is(f, "Bcast");
    if ((!gather && !scatter) || f->kind == PERSISTENT)
        return;
    a.comm = inter;
    a.root = me == ranks - 1 ? 1 : me == 1 ? MPI_ROOT : MPI_PROC_NULL;
    if (gather == (me != ranks - 1) || me == 0) {
        a.s = NOWHERE;
        ignore_sending(&a);
    }
    if (gather == (me == ranks - 1) || me == 0) {
        a.r = NOWHERE;
        ignore_receiving(&a);
    }
    if (is(f, "Reduce") || is(f, "Bcast")) { /* one type for both directions */
        a.s = me == ranks - 1 ? from : NOWHERE;
        a.r = me == 1 ? to : NOWHERE;
        if (me == 0)
            a.buf = NOWHERE;
    }
    run("between groups", f, &a);
}

void part_collectives(void)
{
    MPI_Comm half, inter, graph;
    for (int i = 0; i < 8; i++) {
        ones[i] = 1;
        places[i] = i;
        bytes[i] = i * (place)sizeof(int);
        MPI_Type_vector(2, 1, 8, MPI_INT, &pairs[i]);
        MPI_Type_commit(&pairs[i]);
        wide_places[i] = bytes[i];
        ints[i] = MPI_INT;
    }
    MPI_Comm_split(world, me == ranks - 1, me, &half);
    MPI_Intercomm_create(half, 0, world, me == ranks - 1 ? 0 : ranks - 1, 5, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    for (int i = 0; i < FUNCTIONS; i++) {
        const struct function *f = &functions[i];
        if (is_neighbor(f))
            continue;
        ordinary(f);
        in_place(f);
        not_the_root(f);
        between_groups(f, inter);
    }
    /* no neighbours at all: every array is empty */
    MPI_Dist_graph_create_adjacent(world, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY,
                                   MPI_INFO_NULL, 0, &graph);
    for (int i = 0; i < FUNCTIONS; i++) {
        const struct function *f = &functions[i];
        if (!is_neighbor(f))
            continue;
        struct args a = plain(f);
        a.comm = graph;
        a.sts = a.rts = NULL;
        a.wide_sds = a.wide_rds = NULL;
        run("no neighbours", f, &a);
    }
    for (int i = 0; i < 8; i++)
        MPI_Type_free(&pairs[i]);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}
