/* One-sided: windows of all kinds in places of all kinds, all ways to synchronise. */
#include "anything.h"

enum { ROOM = 4096 };
static struct window {
    MPI_Win win;
    struct place at; /* a communicator of the window's own */
    int *memory, dynamic, kind;
    MPI_Aint *address; /* of a dynamic one, on each rank */
} window[WINDOWS];

static void free_window(struct window *w)
{
    if (!w->at.members)
        return;
    MPI_Barrier(w->at.comm);
    if (w->dynamic)
        MPI_Win_detach(w->win, w->memory);
    MPI_Win_free(&w->win);
    if (w->kind == 0 || w->dynamic)
        free(w->memory);
    MPI_Comm_free(&w->at.comm);
    free(w->at.members);
    free(w->address);
    *w = (struct window){.win = MPI_WIN_NULL};
}

static void make_window(struct window *w, struct place *p, int kind)
{
    MPI_Aint size = ROOM * (MPI_Aint)sizeof(int);
    free_window(w);
    if (p->comm == MPI_COMM_NULL || p->inter)
        return;
    w->at = *p;
    MPI_Comm_dup(p->comm, &w->at.comm);
    w->at.members = need((size_t)p->n, sizeof(int));
    memcpy(w->at.members, p->members, (size_t)p->n * sizeof(int));
    w->kind = kind;
    w->dynamic = kind == 3;
    switch (kind) {
    case 0:
        w->memory = need(ROOM, sizeof(int));
        MPI_Win_create(w->memory, size, sizeof(int), MPI_INFO_NULL, w->at.comm, &w->win);
        break;
    case 1:
        MPI_Win_allocate(size, sizeof(int), MPI_INFO_NULL, w->at.comm, &w->memory, &w->win);
        break;
    case 2:
        MPI_Win_allocate_shared(size, sizeof(int), MPI_INFO_NULL, w->at.comm, &w->memory, &w->win);
        break;
    default:
        w->memory = need(ROOM, sizeof(int));
        w->address = need((size_t)p->n, sizeof *w->address);
        MPI_Win_create_dynamic(MPI_INFO_NULL, w->at.comm, &w->win);
        MPI_Win_attach(w->win, w->memory, size);
        MPI_Get_address(w->memory, &w->address[p->rank]);
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_AINT, w->address, 1, MPI_AINT, w->at.comm);
    }
    memset(w->memory, 0, (size_t)size);
    MPI_Win_fence(0, w->win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
}

static MPI_Aint disp(const struct window *w, int target, int index)
{
    return w->dynamic ? w->address[target] + index * (MPI_Aint)sizeof(int) : index;
}

static void compare(const struct window *w, const char *what, int index, int count, int from)
{
    uint64_t h = 0;
    for (int i = 0; i < count; i++) {
        int got = w->memory[index + i];
        h = h * 31 + (unsigned)got;
        if (got != value(w->at.members[from], step, i)) {
            fail(what, got, value(w->at.members[from], step, i));
            break;
        }
    }
    sum += h;
}

/* puts to the right, read back from there, sums at rank 0; by fences or by post and start */
static void active(struct window *w, int shift, int count, int groups)
{
    struct place *p = &w->at;
    int to = (p->rank + shift) % p->n, from = (p->rank + p->n - shift % p->n) % p->n,
        *out = need((size_t)count, sizeof(int)), *back = need((size_t)count, sizeof(int));
    MPI_Group all, right, left;
    for (int i = 0; i < count; i++)
        out[i] = value(me, step, i);
    if (groups) {
        MPI_Comm_group(p->comm, &all);
        MPI_Group_incl(all, 1, &to, &right);
        MPI_Group_incl(all, 1, &from, &left);
        MPI_Win_post(left, 0, w->win);
        MPI_Win_start(right, 0, w->win);
        MPI_Put(out, count, MPI_INT, to, disp(w, to, 0), count, MPI_INT, w->win);
        MPI_Win_complete(w->win);
        if (step % 2)
            MPI_Win_wait(w->win);
        else
            for (int flag = 0; !flag;)
                MPI_Win_test(w->win, &flag);
        MPI_Group_free(&all), MPI_Group_free(&right), MPI_Group_free(&left);
        compare(w, "put between start and complete", 0, count, from);
    } else {
        int one = p->rank + 1;
        MPI_Win_fence(0, w->win);
        w->memory[ROOM - 1] = 0;
        MPI_Put(out, count, MPI_INT, to, disp(w, to, 0), count, MPI_INT, w->win);
        MPI_Win_fence(0, w->win);
        MPI_Accumulate(&one, 1, MPI_INT, 0, disp(w, 0, ROOM - 1), 1, MPI_INT, MPI_SUM, w->win);
        MPI_Get(back, count, MPI_INT, to, disp(w, to, 0), count, MPI_INT, w->win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
        compare(w, "put between fences", 0, count, from);
        for (int i = 0; i < count; i++)
            if (back[i] != out[i]) {
                fail("get between fences", back[i], out[i]);
                break;
            }
        if (p->rank == 0 && w->memory[ROOM - 1] != p->n * (p->n + 1) / 2)
            fail("accumulate", w->memory[ROOM - 1], p->n * (p->n + 1) / 2);
    }
    MPI_Barrier(p->comm); /* nobody writes again before all have looked */
    free(out);
    free(back);
}

/* a put by request, a counter and a compare-and-swap, while the target does something else */
static void passive(struct window *w, int shift, int count, int all)
{
    struct place *p = &w->at;
    int to = (p->rank + shift) % p->n, from = (p->rank + p->n - shift % p->n) % p->n,
        *out = need((size_t)count, sizeof(int));
    int one = 1, old, zero = 0, mine = p->rank + 1, before = 0, winners;
    MPI_Request r;
    for (int i = 0; i < count; i++)
        out[i] = value(me, step, i);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, p->rank, 0, w->win);
    w->memory[ROOM - 2] = w->memory[ROOM - 3] = 0;
    MPI_Win_unlock(p->rank, w->win);
    MPI_Barrier(p->comm);
    if (all) {
        MPI_Win_lock_all(0, w->win);
        MPI_Rput(out, count, MPI_INT, to, disp(w, to, 0), count, MPI_INT, w->win, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Win_flush(to, w->win);
        MPI_Barrier(p->comm); /* the epoch is open in here */
        MPI_Fetch_and_op(&one, &old, MPI_INT, 0, disp(w, 0, ROOM - 2), MPI_SUM, w->win);
        MPI_Compare_and_swap(&mine, &zero, &before, MPI_INT, 0, disp(w, 0, ROOM - 3), w->win);
        MPI_Win_flush_all(w->win);
        MPI_Win_unlock_all(w->win);
    } else {
        MPI_Win_lock(step % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, to, 0, w->win);
        MPI_Put(out, count, MPI_INT, to, disp(w, to, 0), count, MPI_INT, w->win);
        MPI_Win_flush_local(to, w->win);
        MPI_Win_unlock(to, w->win);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win);
        MPI_Get_accumulate(&one, 1, MPI_INT, &old, 1, MPI_INT, 0, disp(w, 0, ROOM - 2), 1, MPI_INT,
                           MPI_SUM, w->win);
        MPI_Compare_and_swap(&mine, &zero, &before, MPI_INT, 0, disp(w, 0, ROOM - 3), w->win);
        MPI_Win_unlock(0, w->win);
    }
    int won = before == 0;
    MPI_Allreduce(&won, &winners, 1, MPI_INT, MPI_SUM, p->comm);
    if (winners != 1)
        fail("winners of compare-and-swap", winners, 1);
    MPI_Win_lock(MPI_LOCK_SHARED, p->rank, 0, w->win);
    compare(w, "put under a lock", 0, count, from);
    if (p->rank == 0 && w->memory[ROOM - 2] != p->n)
        fail("counter", w->memory[ROOM - 2], p->n);
    MPI_Win_unlock(p->rank, w->win);
    MPI_Barrier(p->comm);
    free(out);
}

void one_sided(void)
{
    unsigned k = draw(WINDOWS), where = draw(PLACES), kind = draw(4), what = draw(8),
             shift = draw(5);
    int count = 1 + (int)draw(64);
    if (step % 5 == 0)
        count *= 50;
    struct window *w = &window[k];
    finish(
        ALL); /* MPICH 4.2 moves no collective on while it waits in MPI_Win_start or MPI_Win_wait */
    if (what < 2)
        make_window(w, &place[where], (int)kind);
    else if (w->at.members && what < 5)
        active(w, (int)shift, count, what == 2);
    else if (w->at.members)
        passive(w, (int)shift, count, what == 5);
}

void windows_end(void)
{
    for (int i = 0; i < WINDOWS; i++)
        free_window(&window[i]);
}
