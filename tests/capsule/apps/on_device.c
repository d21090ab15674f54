/* on_device.c - the program's state is on a GPU, and only there. usage: on_device LIBRARY STEPS [KERNEL]
 *
 * The library is the driver's, or its stand-in. With a file that has a kernel (step.cu) the device does the steps. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORDS = 50000 };

static char *text_of(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    if (!f || !fread(text, 1, (1 << 20) - 1, f))
        MPI_Abort(MPI_COMM_WORLD, 4);
    fclose(f);
    return text;
}

int main(int argc, char **argv)
{
    int rank, size, steps = argc > 2 ? atoi(argv[2]) : 60, bad = 0, worst = 0;
    static uint64_t words[WORDS];
    uint64_t at = 0, sum = 0, all = 0;
    void *context = NULL, *stream = NULL;
    int (*init)(unsigned), (*retain)(void **, int), (*push)(void *), (*alloc)(uint64_t *, size_t);
    int (*in)(uint64_t, const void *, size_t, void *), (*out)(void *, uint64_t, size_t, void *);
    int (*make)(void **, unsigned), (*wait)(void *);
    int (*load)(void **, const void *), (*find)(void **, void *, const char *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
    void *module = NULL, *kernel = NULL;
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!library)
        MPI_Abort(MPI_COMM_WORLD, 3);
    *(void **)&init = dlsym(library, "cuInit");
    *(void **)&retain = dlsym(library, "cuDevicePrimaryCtxRetain");
    *(void **)&push = dlsym(library, "cuCtxPushCurrent_v2");
    *(void **)&alloc = dlsym(library, "cuMemAlloc_v2");
    *(void **)&in = dlsym(library, "cuMemcpyHtoDAsync_v2");
    *(void **)&out = dlsym(library, "cuMemcpyDtoHAsync_v2");
    *(void **)&make = dlsym(library, "cuStreamCreate");
    *(void **)&wait = dlsym(library, "cuStreamSynchronize");
    *(void **)&load = dlsym(library, "cuModuleLoadData");
    *(void **)&find = dlsym(library, "cuModuleGetFunction");
    *(void **)&launch = dlsym(library, "cuLaunchKernel");
    bad |= init(0) || retain(&context, 0) || push(context) || alloc(&at, sizeof words) ||
           make(&stream, 1);
    if (!bad && argc > 3)
        bad = load(&module, text_of(argv[3])) || find(&kernel, module, "step");
    if (bad)
        fprintf(stderr, "on_device: the driver fails%s\n",
                module ? "" : ", before or with the kernel");
    for (int i = 0; i < WORDS; i++)
        words[i] = (uint64_t)(rank + 1) * 0x9e3779b97f4a7c15u + (uint64_t)i;
    bad |= in(at, words, sizeof words, stream) || wait(stream);
    for (int s = 0; s < steps && !bad; s++) {
        uint64_t mine, next = 0;
        bad |= out(words, at, sizeof words, stream) || wait(stream);
        mine = words[s % WORDS];
        MPI_Sendrecv(&mine, 1, MPI_UINT64_T, (rank + 1) % size, 0, &next, 1, MPI_UINT64_T,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        uint64_t count = WORDS;
        void *arguments[] = {&at, &count, &next};
        if (kernel)
            bad |= launch(kernel, 64, 1, 1, 256, 1, 1, 0, stream, arguments, NULL);
        for (int i = 0; i < WORDS; i++)
            words[i] = (words[i] ^ (words[i] >> 29)) * 0xbf58476d1ce4e5b9u + next;
        if (!kernel)
            bad |= in(at, words, sizeof words, stream);
        bad |= wait(stream);
        for (int i = 0; i < WORDS; i++)
            words[i] = 0;
        MPI_Allreduce(&bad, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        usleep(2000);
    }
    bad |= out(words, at, sizeof words, stream) || wait(stream);
    for (int i = 0; i < WORDS; i++)
        sum = sum * 31 + words[i];
    MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
    MPI_Allreduce(&bad, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("on_device: %016llx, %s\n", (unsigned long long)all, worst ? "WRONG" : "right");
    MPI_Finalize();
    return 0;
}
