/* capsule_parts.c [machine] - what a call through the capsule costs by itself: one rank, so that nobody waits for anybody, and
 * the lowest of many short batches, which a machine that is not quiet changes little. Run natively and in the capsule by
 * capsule_parts.sh; the differences are the capsule's. With `machine`: what changing the thread pointer costs here.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 4000, CALLS = 100, N = 64 };
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
#define BENCH(name, calls, code)                \
    do {                                        \
        double best = 1e18;                     \
        for (int b = 0; b < BATCHES; b++) {     \
            double start = now();               \
            for (int i = 0; i < calls; i++) {   \
                code;                           \
            }                                   \
            double t = (now() - start) / calls; \
            best = t < best ? t : best;         \
        }                                       \
        printf("%s %.2f\n", name, best);        \
    } while (0)

#if defined(__x86_64__)
enum { SETS_FS = 0x1002, FSGSBASE = 2 };
#define SET_BY_CALL(p) syscall(SYS_arch_prctl, SETS_FS, p)
#define SET(p)         __asm__ volatile("wrfsbase %0" ::"r"(p) : "memory")
static int may_set(void)
{
    return !!(getauxval(AT_HWCAP2) & FSGSBASE);
}
static void *pointer(void)
{
    void *p;
    __asm__ volatile("mov %%fs:0, %0" : "=r"(p));
    return p;
}
#else
#define SET_BY_CALL(p) syscall(SYS_getppid) /* there is no such call here: what one costs */
#define SET(p)         __asm__ volatile("msr tpidr_el0, %0" ::"r"(p) : "memory")
static int may_set(void)
{
    return 1;
}
static void *pointer(void)
{
    void *p;
    __asm__ volatile("mrs %0, tpidr_el0" : "=r"(p));
    return p;
}
#endif

static int machine(void)
{
    void *p = pointer();
    printf("by_instruction %d\n", may_set());
    if (may_set())
        BENCH("set_twice", CALLS, {
            SET(p);
            SET(p);
        });
    BENCH("set_twice_by_call", CALLS, {
        SET_BY_CALL(p);
        SET_BY_CALL(p);
    });
    return 0;
}

int main(int argc, char **argv)
{
    double x = 1, y;
    static char out[N][8], in[N][8];
    MPI_Request q[2 * N];
    int flag;
    if (argc > 1 && strcmp(argv[1], "machine") == 0)
        return machine();
    MPI_Init(&argc, &argv);
    BENCH("barrier", CALLS, MPI_Barrier(MPI_COMM_WORLD));
    BENCH("allreduce8", CALLS, MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    BENCH("bcast8", CALLS, MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    BENCH("iprobe", CALLS, MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    BENCH("send_recv", CALLS, {
        MPI_Send(out[0], 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(in[0], 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
    BENCH("irecv_send_wait", CALLS, {
        MPI_Irecv(in[0], 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, q);
        MPI_Send(out[0], 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        MPI_Wait(q, MPI_STATUS_IGNORE);
    });
    BENCH("waitall64", 1, {
        for (int m = 0; m < N; m++)
            MPI_Irecv(in[m], 8, MPI_BYTE, 0, m, MPI_COMM_WORLD, &q[m]);
        for (int m = 0; m < N; m++)
            MPI_Isend(out[m], 8, MPI_BYTE, 0, m, MPI_COMM_WORLD, &q[N + m]);
        MPI_Waitall(2 * N, q, MPI_STATUSES_IGNORE);
    });
    MPI_Finalize();
    return 0;
}
