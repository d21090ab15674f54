/* farm: std::thread and std::async in every rank, as a C++ program would have them. Threads of rank 0 give tasks to whoever asks;
 * in the others, workers ask, and one thread sends their results through a queue. At the same time threads of all ranks draw
 * tickets from a window, and futures wait for reductions by polling. Who does what depends on time; the sums do not.
 *
 *   farm TASKS [THREADS]
 */
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <future>
#include <mpi.h>
#include <mutex>
#include <thread>
#include <vector>

enum { ASK = 1, TASK, RESULT, NO_MORE = -1 };
static int rank, size, tasks, threads;
static MPI_Comm farm, results;

static long value_of(long task)
{
    unsigned long x = (unsigned long)task * 2654435761u + 12345;
    for (int i = 0; i < 200; i++)
        x = (x ^ (x >> 13)) * 0x9e3779b97f4a7c15ul;
    return (long)(x % 1000003);
}

/* --- rank 0 gives tasks --- */
static std::mutex next_lock;
static int next_task;
static void give(int askers)
{
    for (int told = 0; told < askers;) {
        MPI_Message m;
        MPI_Status st;
        int who, task;
        MPI_Mprobe(MPI_ANY_SOURCE, ASK, farm, &m, &st);
        MPI_Mrecv(&who, 1, MPI_INT, &m, &st);
        {
            std::lock_guard<std::mutex> guard(next_lock);
            task = next_task < tasks ? next_task++ : NO_MORE;
        }
        MPI_Send(&task, 1, MPI_INT, st.MPI_SOURCE, TASK + 10 * who, farm);
        told += task == NO_MORE;
    }
}

/* --- the others do them --- */
struct queue {
    std::mutex lock;
    std::condition_variable filled;
    std::deque<long> values;
    int working = 0;
};
static void ask(queue &q, int who)
{
    for (int task;;) {
        MPI_Request r;
        int flag = 0;
        MPI_Isend(&who, 1, MPI_INT, 0, ASK, farm, &r);
        MPI_Recv(&task, 1, MPI_INT, 0, TASK + 10 * who, farm, MPI_STATUS_IGNORE);
        while (!flag)
            MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
        std::lock_guard<std::mutex> guard(q.lock);
        if (task == NO_MORE)
            q.working--;
        else
            q.values.push_back(value_of(task));
        q.filled.notify_one();
        if (task == NO_MORE)
            return;
    }
}
static void send_results(queue &q)
{
    std::deque<long> out;
    std::vector<MPI_Request> r;
    for (bool more = true; more;) {
        std::unique_lock<std::mutex> guard(q.lock);
        q.filled.wait(guard, [&] { return !q.values.empty() || !q.working; });
        more = !q.values.empty();
        while (!q.values.empty()) {
            out.push_back(q.values.front()); /* a deque: the addresses stay */
            q.values.pop_front();
            r.emplace_back();
            MPI_Issend(&out.back(), 1, MPI_LONG, 0, RESULT, results, &r.back());
        }
    }
    MPI_Waitall((int)r.size(), r.data(), MPI_STATUSES_IGNORE);
}
static long collect()
{
    long sum = 0, one;
    for (int i = 0; i < tasks; i++) {
        MPI_Recv(&one, 1, MPI_LONG, MPI_ANY_SOURCE, RESULT, results, MPI_STATUS_IGNORE);
        sum += one;
    }
    return sum;
}
static long run_farm()
{
    std::vector<std::thread> all;
    long sum = 0;
    queue q;
    q.working = threads;
    if (rank == 0) {
        /* each of these tells as many askers that there is no more */
        for (int i = 0; i < threads; i++)
            all.emplace_back(give, size - 1);
        sum = collect();
    } else {
        for (int i = 0; i < threads; i++)
            all.emplace_back(ask, std::ref(q), i);
        send_results(q);
    }
    for (auto &t : all)
        t.join();
    return sum;
}

/* --- tickets: each number is drawn once, by one of all threads --- */
static long draw(MPI_Win w)
{
    long one = 1, mine = 0, sum = 0;
    for (;;) {
        MPI_Fetch_and_op(&one, &mine, MPI_LONG, 0, 0, MPI_SUM, w);
        MPI_Win_flush(0, w);
        if (mine >= tasks)
            return sum;
        sum += value_of(mine) % 1000;
    }
}
static long run_tickets()
{
    MPI_Win w;
    long *counter, sum = 0;
    MPI_Win_allocate(rank == 0 ? sizeof *counter : 0, sizeof *counter, MPI_INFO_NULL, farm,
                     &counter, &w);
    if (rank == 0)
        *counter = 0;
    MPI_Barrier(farm);
    MPI_Win_lock_all(0, w);
    std::vector<std::future<long>> all;
    for (int i = 0; i < threads; i++)
        all.push_back(std::async(std::launch::async, draw, w));
    for (auto &f : all)
        sum += f.get();
    MPI_Win_unlock_all(w);
    MPI_Win_free(&w);
    return sum;
}

/* --- futures: a reduction each, on a communicator of its own, waited for by polling --- */
static long reduce(MPI_Comm c, int round)
{
    long mine = value_of(rank * 1000 + round), sum = 0;
    MPI_Request r;
    MPI_Iallreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, c, &r);
    for (int flag = 0; !flag; std::this_thread::yield())
        MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_MAX, c);
    return sum;
}
static long run_futures(std::vector<MPI_Comm> &own)
{
    long sum = 0;
    for (int round = 0; round < tasks / 8; round++) {
        std::vector<std::future<long>> all;
        for (auto c : own)
            all.push_back(std::async(std::launch::async, reduce, c, round));
        for (auto &f : all)
            sum += f.get();
    }
    return sum;
}

int main(int argc, char **argv)
{
    int provided;
    tasks = argc > 1 ? atoi(argv[1]) : 200;
    threads = argc > 2 ? atoi(argv[2]) : 3;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided != MPI_THREAD_MULTIPLE || size < 2) {
        fprintf(stderr, "farm: thread level %d, %d ranks\n", provided, size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &farm);
    MPI_Comm_dup(MPI_COMM_WORLD, &results);
    std::vector<MPI_Comm> own((size_t)threads);
    for (auto &c : own)
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
    long futures = run_futures(own), tickets = run_tickets(), done = run_farm(), all = 0;
    futures += run_futures(own);
    MPI_Reduce(&tickets, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("farm: futures %ld, tickets %ld, tasks %ld\n", futures, all, done);
    for (auto &c : own)
        MPI_Comm_free(&c);
    MPI_Comm_free(&farm);
    MPI_Comm_free(&results);
    MPI_Finalize();
    return 0;
}
