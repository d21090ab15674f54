// Heat in a plate, on GPUs: each rank has some rows of the plate and keeps them in the memory of a GPU. A checkpoint of
// that memory needs only the lines marked "Mend".
//
//     nvcc -c heat.cu -I$(…)/include && mpicc heat.o -o heat -lmend -lcudart …     see docs/guide/gpu.md
//     mpirun -n 5 ./heat 4096 2000          with MEND_FLOW_SPARES=1, four ranks compute and one waits
//
// HEAT_DIE="RANK STEP" in the environment: that process of the launch kills itself there.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <mend/flow.h>     // Mend: MPI_COMM_WORLD is the repaired communicator from here on
#include <signal.h>

#define CUDA(call)                                                                               \
    do {                                                                                         \
        cudaError_t code = (call);                                                               \
        if (code != cudaSuccess) {                                                               \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(code));                  \
            std::exit(1);                                                                        \
        }                                                                                        \
    } while (0)

__global__ void diffuse(const double *from, double *to, int rows, int columns)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || x >= columns - 1 || y < 1 || y > rows)
        return;
    size_t i = (size_t)y * columns + x;
    to[i] = from[i] + 0.2 * (from[i - 1] + from[i + 1] + from[i - columns] + from[i + columns] - 4 * from[i]);
}

__global__ void begin(double *a, int rows, int columns, int rank)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows + 2)
        a[(size_t)y * columns + x] = (double)((x * 31 + (y + rank * rows) * 17) % 1000) / 1000;
}

// Rows at the border go to the neighbours through host memory: any MPI can do that.
static void exchange(double *grid, int rows, int columns, double *host, int up, int down)
{
    size_t bytes = columns * sizeof(double);
    double *mine[2] = {host, host + columns}, *theirs[2] = {host + 2 * columns, host + 3 * columns};
    CUDA(cudaMemcpy(mine[0], grid + columns, bytes, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(mine[1], grid + (size_t)rows * columns, bytes, cudaMemcpyDeviceToHost));
    MPI_Sendrecv(mine[0], columns, MPI_DOUBLE, up, 0, theirs[1], columns, MPI_DOUBLE, down, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(mine[1], columns, MPI_DOUBLE, down, 1, theirs[0], columns, MPI_DOUBLE, up, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (up != MPI_PROC_NULL)
        CUDA(cudaMemcpy(grid, theirs[0], bytes, cudaMemcpyHostToDevice));
    if (down != MPI_PROC_NULL)
        CUDA(cudaMemcpy(grid + (size_t)(rows + 1) * columns, theirs[1], bytes, cudaMemcpyHostToDevice));
}

int main(int argc, char **argv)
{
    int provided = 0, rank, ranks, step = 0, devices = 1, who = -1, when = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        std::fprintf(stderr, "heat: no threads in this MPI: saves take longer\n");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int columns = argc > 1 ? std::atoi(argv[1]) : 1024, steps = argc > 2 ? std::atoi(argv[2]) : 500;
    int rows = columns / ranks;
    CUDA(cudaGetDeviceCount(&devices));
    CUDA(cudaSetDevice(rank % devices));
    size_t cells = (size_t)(rows + 2) * columns;
    double *grid, *next, *host = (double *)std::malloc(4 * columns * sizeof(double));
    CUDA(cudaMalloc(&grid, cells * sizeof(double)));
    CUDA(cudaMalloc(&next, cells * sizeof(double)));
    dim3 block(32, 8), blocks((columns + 31) / 32, (rows + 2 + 7) / 8);
    begin<<<blocks, block>>>(grid, rows, columns, rank);
    CUDA(cudaMemcpy(next, grid, cells * sizeof(double), cudaMemcpyDeviceToDevice));
    if (std::getenv("HEAT_DIE") && std::sscanf(std::getenv("HEAT_DIE"), "%d %d", &who, &when) == 2 &&
        std::atoi(std::getenv("OMPI_COMM_WORLD_RANK")) != who)
        when = -1;

    mend_view("grid", grid, cells, MPI_DOUBLE, 0);         // Mend: in the memory of the GPU
    mend_view("step", &step, 1, MPI_INT, MEND_CONTROL);    // Mend: on the host
    for (; mend_point() && step < steps; step++) {         // Mend: saves when it is due, comes back here
        if (step == when)
            raise(SIGKILL);
        exchange(grid, rows, columns, host, rank ? rank - 1 : MPI_PROC_NULL,
                 rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL);
        diffuse<<<blocks, block>>>(grid, next, rows, columns);
        CUDA(cudaMemcpyAsync(grid + columns, next + columns, (cells - 2 * columns) * sizeof(double),
                             cudaMemcpyDeviceToDevice));
    }

    double *all = (double *)std::malloc(cells * sizeof(double));
    CUDA(cudaMemcpy(all, grid, cells * sizeof(double), cudaMemcpyDeviceToHost));
    unsigned long long sum = 1469598103934665603ull, total = 0;
    for (size_t i = columns; i < cells - columns; i++) {
        unsigned long long bits;
        __builtin_memcpy(&bits, &all[i], sizeof bits);
        sum = (sum ^ bits) * 1099511628211ull;
    }
    sum *= rank + 1;
    MPI_Reduce(&sum, &total, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("heat: %d x %d, %d steps on %d ranks, %d repairs, sum %016llx\n", rows * ranks, columns, step, ranks,
                    mend_repairs(), total);
    MPI_Finalize();
    return 0;
}
