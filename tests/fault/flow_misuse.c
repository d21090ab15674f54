/* Wrong use of the flow layer, one kind per run: flow_misuse KIND. The last line of a run that was
 * not stopped is "survived". */
#include <mend/flow.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double cells[100], more[100];
static int step;
static long named;
MEND_STATE(named);

static void loop(int steps)
{
    for (; mend_point() && step < steps; step++)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void *second_thread(void *arg)
{
    loop(3);
    return arg;
}

static void handler(int number)
{
    (void)number;
    loop(3);
}

static int point_in_builder(void *arg)
{
    (void)arg;
    if (step > 0)
        loop(10);
    return 0;
}

/* As a program that was compiled with the header of another version. */
static void old_site(void)
{
    static mend_site site = {sizeof(mend_site) - 8, __FILE__, __func__, __LINE__, NULL};
    mend_flow_arrive(NULL, &site, __builtin_frame_address(0), 0);
}

static void old_part(void)
{
    mend_flow *flow;
    mend_flow_options o;
    mend_flow_store store = {.struct_size = sizeof store, .part_size = sizeof(mend_flow_part) + 8};
    mend_flow_defaults(&o);
    o.store = &store;
    mend_flow_checked(mend_flow_open(MPI_COMM_WORLD, &o, &flow));
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    size_t length = argc > 2 ? (size_t)atoi(argv[2]) : 100;
#define IS(name) (strcmp(kind, name) == 0)
    if (IS("early-view"))
        mend_view("cells", cells, 100, MPI_DOUBLE, 0);
    if (IS("early-point"))
        loop(1);
    if (IS("old-state"))
        mend_state_of_named.size += 8;
    MPI_Init(&argc, &argv);
    if (IS("old-site"))
        old_site();
    if (IS("old-part"))
        old_part();
    if (IS("twice"))
        MPI_Init(&argc, &argv);
    mend_view("cells", cells, length, MPI_DOUBLE, 0);
    mend_view("step", &step, 1, MPI_INT, MEND_CONTROL);
    if (IS("null"))
        mend_view("nothing", NULL, 5, MPI_DOUBLE, 0);
    if (IS("label"))
        mend_view("", cells, 5, MPI_DOUBLE, 0);
    if (IS("flags"))
        mend_view("cells", cells, 100, MPI_DOUBLE, 4096);
    if (IS("remove"))
        mend_view_remove("unknown");
    if (IS("alias"))
        mend_alias("cells", "unknown");
    if (IS("global"))
        mend_view_global("cells", cells, 100, MPI_DOUBLE, 50, 100, 0);
    if (IS("dynamic"))
        mend_view_dynamic("list", NULL, NULL, 8, 0);
    if (IS("other-view"))
        mend_view("other", more, 100, MPI_DOUBLE, 0);
    if (IS("builder"))
        mend_rebuild(point_in_builder, NULL);
    if (IS("thread")) {
        pthread_t t;
        pthread_create(&t, NULL, second_thread, NULL);
        pthread_join(t, NULL);
    }
    if (IS("signal")) {
        signal(SIGUSR1, handler);
        raise(SIGUSR1);
    }
    if (IS("constant")) {
        for (int i = 0; i < 100; i++)
            more[i] = (double)length;
        mend_view("cells", cells, 100, MPI_DOUBLE, 0);
        mend_view("table", more, 100, MPI_DOUBLE, MEND_CONSTANT);
    }
    if (IS("moved")) {
        for (; mend_point() && step < 40; step++)
            MPI_Barrier(MPI_COMM_WORLD);
    } else {
        for (; mend_point() && step < 40; step++) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (IS("builder") && step == 5)
                mend_rebuild(point_in_builder, NULL);
            if ((IS("save") || (IS("constant") && length == 100)) && step == 25)
                abort();
        }
    }
    MPI_Finalize();
    puts("survived");
    return 0;
}
