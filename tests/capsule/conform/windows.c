/* windows.c - windows of each kind: what is asked of them, wrong synchronisation, atomics of all types. */
#include "conform.h"
#include <unistd.h>

static void kinds(void)
{
    MPI_Win w = MPI_WIN_NULL;
    int *base = (int *)1, flag = -1, *value = NULL, unit = -1, data[4] = {0};
    void *place;
    MPI_Aint size = -1;
    MPI_Info in, out;
    char word[64] = "";
    CALL(MPI_Win_allocate_shared(me == 1 ? 0 : 16, 4, MPI_INFO_NULL, world, &base, &w));
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    say("base is %s", base ? "there" : "null");
    for (int r = 0; r < ranks; r++) {
        place = (void *)1;
        CALL(MPI_Win_shared_query(w, r, &size, &unit, &place));
        say("rank %d: %ld bytes, unit %d, %s", r, (long)size, unit, place ? "there" : "null");
    }
    CALL(MPI_Win_shared_query(w, MPI_PROC_NULL, &size, &unit, &place));
    say("%ld bytes, unit %d", (long)size, unit);
    CALL(MPI_Win_shared_query(w, 99, &size, &unit, &place));
    CALL(MPI_Win_free(&w));
    say("%s", w == MPI_WIN_NULL ? "null" : "not null");
    CALL(MPI_Win_free(&w));
    CALL(MPI_Win_allocate_shared(0, 1, MPI_INFO_NULL, world, &base, &w));
    MPI_Win_get_attr(w, MPI_WIN_SIZE, &place, &flag);
    say("size %d %ld", flag, (long)*(MPI_Aint *)place);
    MPI_Win_free(&w);
    CALL(MPI_Win_create(data, sizeof data, 4, MPI_INFO_NULL, world, &w));
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    CALL(MPI_Win_shared_query(w, 0, &size, &unit, &place));
    MPI_Win_get_attr(w, MPI_WIN_CREATE_FLAVOR, &value, &flag);
    say("flavor create: %d", flag && *value == MPI_WIN_FLAVOR_CREATE);
    CALL(MPI_Win_attach(w, data, 4));
    MPI_Win_free(&w);
    CALL(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, world, &w));
    MPI_Win_get_attr(w, MPI_WIN_BASE, &place, &flag);
    say("base %d %s", flag, place ? "there" : "null");
    MPI_Win_free(&w);
    CALL(MPI_Win_allocate(me ? 16 : 0, 4, MPI_INFO_NULL, world, &base, &w));
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    MPI_Win_get_attr(w, MPI_WIN_CREATE_FLAVOR, &value, &flag);
    say("flavor allocate: %d", flag && *value == MPI_WIN_FLAVOR_ALLOCATE);
    MPI_Win_get_attr(w, MPI_WIN_BASE, &place, &flag);
    say("base %d", place == (void *)base);
    MPI_Win_get_attr(w, MPI_WIN_SIZE, &place, &flag);
    say("size %ld", (long)*(MPI_Aint *)place);
    MPI_Win_get_attr(w, MPI_WIN_MODEL, &value, &flag);
    say("unified: %d", flag && *value == MPI_WIN_UNIFIED);
    MPI_Win_free(&w);
    CALL(MPI_Win_create(data, 16, 0, MPI_INFO_NULL, world, &w));
    CALL(MPI_Win_create(data, -1, 4, MPI_INFO_NULL, world, &w));
    CALL(MPI_Win_create(data, 16, 4, MPI_INFO_NULL, MPI_COMM_NULL, &w));
    MPI_Info_create(&in);
    MPI_Info_set(in, "nobody_knows_this", "yes");
    MPI_Info_set(in, "no_locks", "true");
    CALL(MPI_Win_create(data, 16, 4, in, world, &w));
    CALL(MPI_Win_get_info(w, &out));
    MPI_Info_get(out, "nobody_knows_this", 63, word, &flag);
    say("an unknown hint is %s", flag ? "kept" : "dropped");
    MPI_Info_get(out, "no_locks", 63, word, &flag);
    say("a known hint is %s", flag ? word : "dropped");
    MPI_Info_free(&out);
    MPI_Info_free(&in);
    MPI_Win_free(&w);
}

/* While rank 0 waits for its own window, others that hold it access it, which may need rank 0's library. */
static void waiting_target(void)
{
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        MPI_Win w;
        int *memory = calloc(1, sizeof *memory), one = 1, old;
        MPI_Aint there = 0;
        if (dynamic) {
            MPI_Win_create_dynamic(MPI_INFO_NULL, world, &w);
            MPI_Win_attach(w, memory, sizeof *memory);
            MPI_Get_address(memory, &there);
            MPI_Bcast(&there, 1, MPI_AINT, 0, world);
        } else
            MPI_Win_create(memory, sizeof *memory, 1, MPI_INFO_NULL, world, &w);
        MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
        if (me)
            CALL(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w));
        MPI_Barrier(world);
        if (me) {
            usleep(30000);
            CALL(MPI_Get_accumulate(&one, 1, MPI_INT, &old, 1, MPI_INT, 0, there, 1, MPI_INT,
                                    MPI_SUM, w));
        } else
            CALL(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w));
        CALL(MPI_Win_unlock(0, w));
        MPI_Barrier(world);
        MPI_Win_lock(MPI_LOCK_SHARED, me, 0, w);
        say("counted %d", *memory);
        MPI_Win_unlock(me, w);
        if (dynamic)
            MPI_Win_detach(w, memory);
        MPI_Win_free(&w);
        free(memory);
    }
}

/* Two ranks count alone, others look at it together: none gets in between. */
static void locks_exclude(void)
{
    enum { TIMES = 100 };
    MPI_Win w;
    int *count, got = 0, wrong = 0;
    MPI_Win_allocate(2 * sizeof *count, sizeof *count, MPI_INFO_NULL, world, &count, &w);
    count[0] = count[1] = 0;
    MPI_Barrier(world);
    for (int i = 0; i < TIMES; i++) {
        int two[2];
        MPI_Win_lock(me < 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, w);
        MPI_Get(two, 2, MPI_INT, 0, 0, 2, MPI_INT, w);
        MPI_Win_flush(0, w);
        wrong += two[0] != two[1];
        for (int k = 0; k < 2 && me < 2; k++) {
            got = two[0] + 1;
            MPI_Put(&got, 1, MPI_INT, 0, k, 1, MPI_INT, w);
            MPI_Win_flush(0, w);
        }
        MPI_Win_unlock(0, w);
    }
    MPI_Barrier(world);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, w);
    say("counted %d, %d wrong", count[0], wrong);
    MPI_Win_unlock(me, w);
    MPI_Win_free(&w);
}

static void synchronisation(void)
{
    MPI_Win w;
    MPI_Group g, all;
    int *base, value = 0, flag = -1, mine = me;
    MPI_Win_allocate(16, 4, MPI_INFO_NULL, world, &base, &w);
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    CALL(MPI_Win_unlock(0, w));
    CALL(MPI_Win_unlock_all(w));
    CALL(MPI_Win_complete(w));
    CALL(MPI_Win_wait(w));
    CALL(MPI_Win_test(w, &flag));
    CALL(MPI_Win_flush(0, w));
    CALL(MPI_Win_flush_all(w));
    CALL(MPI_Win_flush_local(0, w));
    CALL(MPI_Win_flush_local_all(w));
    CALL(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, w));
    CALL(MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, w));
    CALL(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w));
    CALL(MPI_Win_lock(MPI_LOCK_SHARED, 99, 0, w));
    FAILS(MPI_Win_lock(12345, 0, 0, w));
    CALL(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w));
    CALL(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w));
    CALL(MPI_Win_lock_all(0, w));
    CALL(MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, w));
    CALL(MPI_Put(&value, 1, MPI_INT, 99, 0, 1, MPI_INT, w));
    CALL(MPI_Put(&value, -1, MPI_INT, 0, 0, 1, MPI_INT, w));
    CALL(MPI_Put(NULL, 0, MPI_INT, 0, 0, 0, MPI_INT, w));
    CALL(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w));
    CALL(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, w));
    CALL(MPI_Win_unlock(0, w));
    CALL(MPI_Win_unlock(0, w));
    CALL(MPI_Win_lock_all(0, w));
    CALL(MPI_Win_lock_all(0, w));
    CALL(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w));
    CALL(MPI_Win_unlock_all(w));
    MPI_Barrier(world);
    CALL(MPI_Win_fence(0, w));
    CALL(MPI_Put(&mine, 1, MPI_INT, (me + 1) % ranks, 0, 1, MPI_INT, w));
    CALL(MPI_Win_fence(MPI_MODE_NOSUCCEED, w));
    say("got %d", base[0]);
    MPI_Comm_group(world, &all);
    CALL(MPI_Win_post(MPI_GROUP_EMPTY, 0, w));
    CALL(MPI_Win_start(MPI_GROUP_EMPTY, 0, w));
    CALL(MPI_Win_complete(w));
    CALL(MPI_Win_wait(w));
    /* MPICH 4.2 waits for ever if the post of a later epoch arrives while it starts one without targets */
    MPI_Barrier(world);
    int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;
    MPI_Group_incl(all, 1, &before, &g);
    CALL(MPI_Win_post(g, 0, w));
    CALL(MPI_Win_post(g, 0, w));
    MPI_Group_free(&g);
    MPI_Group_incl(all, 1, &next, &g);
    CALL(MPI_Win_start(g, 0, w));
    CALL(MPI_Win_start(g, 0, w));
    MPI_Group_free(&g);
    mine = 10 + me;
    CALL(MPI_Put(&mine, 1, MPI_INT, next, 0, 1, MPI_INT, w));
#ifndef OPEN_MPI /* it takes the lock, and frees the window */
    CALL(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w));
    CALL(MPI_Win_lock_all(0, w));
    CALL(MPI_Win_fence(0, w));
    CALL(MPI_Win_free(&w));
#endif
    CALL(MPI_Win_complete(w));
    CALL(MPI_Win_wait(w));
    say("got %d", base[0]);
#ifndef OPEN_MPI
    CALL(MPI_Win_fence(0, w));
    CALL(MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, w));
    CALL(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w));
    CALL(MPI_Win_lock_all(0, w));
    CALL(MPI_Win_fence(MPI_MODE_NOSUCCEED, w));
    CALL(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w));
    CALL(MPI_Win_fence(0, w));
    CALL(MPI_Win_start(all, 0, w));
    CALL(MPI_Win_free(&w));
    CALL(MPI_Win_unlock(0, w));
    CALL(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, w));
#endif
    MPI_Group_free(&all);
    MPI_Win_free(&w);
    CALL(MPI_Win_fence(0, MPI_WIN_NULL));
    CALL(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_WIN_NULL));
    CALL(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, MPI_WIN_NULL));
    MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, world, &w);
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_SELF, &g);
    MPI_Win_post(g, 0, w);
    MPI_Win_start(g, 0, w);
    CALL(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, w));
    CALL(MPI_Win_complete(w));
    CALL(MPI_Win_wait(w));
    MPI_Group_free(&g);
    MPI_Win_free(&w);
}

enum { TURNS = 4 };
/* Each rank adds to (or keeps the largest of) the same elements of rank 0: the result does not depend on the order. */
#define PAIR(T, type)                                                                          \
    do {                                                                                       \
        struct {                                                                               \
            T value;                                                                           \
            int place;                                                                         \
        } *base, mine, old;                                                                    \
        MPI_Win w;                                                                             \
        MPI_Win_allocate(me ? 0 : 4 * sizeof *base, sizeof *base, MPI_INFO_NULL, world, &base, \
                         &w);                                                                  \
        MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);                                          \
        for (int i = 0; me == 0 && i < 4; i++) {                                               \
            base[i].value = -1;                                                                \
            base[i].place = -1;                                                                \
        }                                                                                      \
        MPI_Barrier(world);                                                                    \
        for (int turn = 0; turn < TURNS; turn++) {                                             \
            memset(&mine, 0, sizeof mine);                                                     \
            mine.value = (T)(turn * ranks + me);                                               \
            mine.place = 1000 + turn * ranks + me;                                             \
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w);                                            \
            MPI_Accumulate(&mine, 1, type, 0, 0, 1, type, MPI_MAXLOC, w);                      \
            MPI_Fetch_and_op(&mine, &old, type, 0, 1, MPI_MAXLOC, w);                          \
            MPI_Get_accumulate(&mine, 1, type, &old, 1, type, 0, 2, 1, type, MPI_MAXLOC, w);   \
            MPI_Win_unlock(0, w);                                                              \
        }                                                                                      \
        MPI_Barrier(world);                                                                    \
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w);                                                \
        MPI_Win_unlock(0, w);                                                                  \
        for (int i = 0; me == 0 && i < 3; i++)                                                 \
            say(#type " %d: %ld at %d", i, (long)base[i].value, base[i].place);                \
        MPI_Barrier(world);                                                                    \
        MPI_Win_free(&w);                                                                      \
    } while (0)
#define SUM(T, type)                                                                           \
    do {                                                                                       \
        T *base, one = 1, old = 0;                                                             \
        MPI_Win w;                                                                             \
        MPI_Win_allocate(me ? 0 : 4 * sizeof *base, sizeof *base, MPI_INFO_NULL, world, &base, \
                         &w);                                                                  \
        MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);                                          \
        for (int i = 0; me == 0 && i < 4; i++)                                                 \
            base[i] = 0;                                                                       \
        MPI_Barrier(world);                                                                    \
        MPI_Win_lock_all(0, w);                                                                \
        for (int turn = 0; turn < TURNS; turn++) {                                             \
            MPI_Accumulate(&one, 1, type, 0, 0, 1, type, MPI_SUM, w);                          \
            MPI_Fetch_and_op(&one, &old, type, 0, 1, MPI_SUM, w);                              \
            MPI_Get_accumulate(&one, 1, type, &old, 1, type, 0, 2, 1, type, MPI_SUM, w);       \
            MPI_Fetch_and_op(NULL, &old, type, 0, 1, MPI_NO_OP, w);                            \
            MPI_Win_flush(0, w);                                                               \
        }                                                                                      \
        MPI_Win_unlock_all(w);                                                                 \
        MPI_Barrier(world);                                                                    \
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w);                                                \
        MPI_Win_unlock(0, w);                                                                  \
        for (int i = 0; me == 0 && i < 3; i++)                                                 \
            say(#type " %d: %ld", i, (long)base[i]);                                           \
        MPI_Barrier(world);                                                                    \
        MPI_Win_free(&w);                                                                      \
    } while (0)

static void atomics(void)
{
    PAIR(float, MPI_FLOAT_INT);
    PAIR(double, MPI_DOUBLE_INT);
    PAIR(long, MPI_LONG_INT);
    PAIR(int, MPI_2INT);
    PAIR(short, MPI_SHORT_INT);
    SUM(char, MPI_SIGNED_CHAR);
    SUM(short, MPI_SHORT);
    SUM(int, MPI_INT);
    SUM(long, MPI_LONG);
    SUM(float, MPI_FLOAT);
    SUM(double, MPI_DOUBLE);
}

static int copies, deletes, heard;
static int copy(MPI_Win w, int key, void *extra, void *in, void *out, int *flag)
{
    (void)w, (void)key, (void)extra, (void)in, (void)out;
    copies++;
    *flag = 0;
    return MPI_SUCCESS;
}
static int delete(MPI_Win w, int key, void *value, void *extra)
{
    (void)w, (void)key, (void)extra;
    deletes += (int)(long)value;
    return MPI_SUCCESS;
}
static void handler(MPI_Win *w, int *code, ...)
{
    heard++;
    say("handler: %s, %s", *w == MPI_WIN_NULL ? "null" : "a window", name_of(*code));
}
static void attributes(void)
{
    MPI_Win w;
    MPI_Errhandler e;
    int key, flag = -1, word = 0;
    void *value = NULL;
    copies = deletes = heard = 0;
    MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, world, &w);
    CALL(MPI_Win_create_keyval(copy, delete, &key, NULL));
    CALL(MPI_Win_get_attr(w, key, &value, &flag));
    say("%d", flag);
    CALL(MPI_Win_set_attr(w, key, (void *)7));
    CALL(MPI_Win_get_attr(w, key, &value, &flag));
    say("%d %ld", flag, (long)value);
    CALL(MPI_Win_set_attr(w, key, (void *)8));
    say("%d", deletes);
    CALL(MPI_Win_delete_attr(w, key));
    say("%d", deletes);
    CALL(MPI_Win_set_attr(w, key, (void *)100));
    CALL(MPI_Win_free_keyval(&key));
    CALL(MPI_Win_create_errhandler(handler, &e));
    CALL(MPI_Win_set_errhandler(w, e));
    CALL(MPI_Errhandler_free(&e));
    CALL(MPI_Win_call_errhandler(w, MPI_ERR_RMA_RANGE));
    MPI_Win_lock(MPI_LOCK_SHARED, 99, 0, w);
    say("heard %d", heard);
    CALL(MPI_Win_free(&w));
    say("%d deletes, %d copies", deletes, copies);
}

void part_windows(void)
{
    attributes();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    kinds();
    waiting_target();
    locks_exclude();
    synchronisation();
    atomics();
}
