/* on_device.c - the program's state is on a GPU, and only there. usage: on_device LIBRARY STEPS|FILE [KERNEL|--share]
 *                                                                       on_device --expect RANKS STEPS
 *
 * It does so many steps, or goes on until the file is there (until.h). The library is the driver's, or its stand-in. KERNEL is a file that the driver loads (step.cu as PTX or as machine code):
 * then the device does the steps, else the host. Each call of the driver that fails is named on stderr, with its error; the
 * program ends with 5. With --share other processes may open its memory (CUDA IPC), but none does. With --expect it uses neither MPI nor a driver, and prints what so many ranks print after so many steps. */
#include "../../fault/apps/until.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 50000 };

static struct {
    int (*init)(unsigned), (*name)(int, const char **), (*get)(int *, int);
    int (*retain)(void **, int), (*push)(void *), (*alloc)(uint64_t *, size_t);
    int (*in)(uint64_t, const void *, size_t, void *), (*out)(void *, uint64_t, size_t, void *);
    int (*make)(void **, unsigned), (*wait)(void *);
    int (*load)(void **, const void *), (*find)(void **, void *, const char *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
} cu;
static int rank, size, step;

static void stop(const char *what, const char *why, int code)
{
    fprintf(stderr, "on_device: rank %d, step %d: %s: %s (%d)\n", rank, step, what, why, code);
    MPI_Abort(MPI_COMM_WORLD, 5);
}

static void ok(int code, const char *call)
{
    const char *text = NULL;
    if (!code)
        return;
    if (!cu.name || cu.name(code, &text) || !text)
        text = "an error without a name";
    stop(call, text, code);
}
#define OK(call) ok(cu.call, #call)

static void look_up(const char *path)
{
    static const char *const names[] = {"cuInit",
                                        "cuGetErrorName",
                                        "cuDeviceGet",
                                        "cuDevicePrimaryCtxRetain",
                                        "cuCtxPushCurrent_v2",
                                        "cuMemAlloc_v2",
                                        "cuMemcpyHtoDAsync_v2",
                                        "cuMemcpyDtoHAsync_v2",
                                        "cuStreamCreate",
                                        "cuStreamSynchronize",
                                        "cuModuleLoadData",
                                        "cuModuleGetFunction",
                                        "cuLaunchKernel"};
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        stop("dlopen", dlerror(), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *f = dlsym(library, names[i]);
        if (!f)
            stop("dlsym", names[i], 0);
        memcpy((char *)&cu + i * sizeof f, &f, sizeof f);
    }
}

static void *kernel_of(const char *path)
{
    enum { ROOM = 1 << 20 };
    void *module = NULL, *kernel = NULL;
    FILE *f = fopen(path, "r");
    char *text = calloc(1, ROOM);
    if (!f || !text || !fread(text, 1, ROOM - 1, f))
        stop("fopen", path, 0);
    fclose(f);
    OK(load(&module, text));
    OK(find(&kernel, module, "step"));
    free(text);
    return kernel;
}

static void share(const char *path, uint64_t at)
{
    char handle[64];
    int (*get)(void *, uint64_t) = NULL;
    void *library = dlopen(path, RTLD_NOW);
    if (library)
        *(void **)&get = dlsym(library, "cuIpcGetMemHandle");
    if (!get)
        stop("dlsym", "cuIpcGetMemHandle", 0);
    ok(get(handle, at), "cuIpcGetMemHandle");
}

static uint64_t words[WORDS];

static void begin(uint64_t *w, int of)
{
    for (int i = 0; i < WORDS; i++)
        w[i] = (uint64_t)(of + 1) * 0x9e3779b97f4a7c15u + (uint64_t)i;
}

static void advance(uint64_t *w, uint64_t next)
{
    for (int i = 0; i < WORDS; i++)
        w[i] = (w[i] ^ (w[i] >> 29)) * 0xbf58476d1ce4e5b9u + next;
}

static uint64_t sum_of(const uint64_t *w)
{
    uint64_t sum = 0;
    for (int i = 0; i < WORDS; i++)
        sum = sum * 31 + w[i];
    return sum;
}

static void tell(uint64_t all, int steps)
{
    printf("on_device: %016llx after %d steps\n", (unsigned long long)all, steps);
}

/* All ranks, one after the other, on the host. */
static int expect(int ranks, int steps)
{
    uint64_t(*w)[WORDS] = calloc((size_t)ranks, sizeof *w);
    uint64_t *mine = calloc((size_t)ranks, sizeof *mine), all = 0;
    if (!w || !mine || ranks < 1)
        return 1;
    for (int r = 0; r < ranks; r++)
        begin(w[r], r);
    for (int s = 0; s < steps; s++) {
        for (int r = 0; r < ranks; r++)
            mine[r] = w[r][s % WORDS];
        for (int r = 0; r < ranks; r++)
            advance(w[r], mine[(r + ranks - 1) % ranks]);
    }
    for (int r = 0; r < ranks; r++)
        all ^= sum_of(w[r]);
    tell(all, steps);
    free(mine);
    free(w);
    return 0;
}

/* On the device by a kernel, or on the host and back. */
static void one_step(void *kernel, uint64_t at, void *stream, uint64_t next)
{
    uint64_t count = WORDS;
    void *arguments[] = {&at, &count, &next};
    if (kernel) {
        OK(launch(kernel, 64, 1, 1, 256, 1, 1, 0, stream, arguments, NULL));
    } else {
        advance(words, next);
        OK(in(at, words, sizeof words, stream));
    }
    OK(wait(stream));
    memset(words, 0, sizeof words);
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "--expect"))
        return expect(atoi(argv[2]), atoi(argv[3]));
    struct until steps = until(argc > 2 ? argv[2] : NULL, 60);
    int device = 0;
    uint64_t at = 0, sum = 0, all = 0;
    void *context = NULL, *stream = NULL, *kernel;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    look_up(argc > 1 ? argv[1] : "libcuda.so.1");
    OK(init(0));
    OK(get(&device, 0));
    OK(retain(&context, device));
    OK(push(context));
    OK(alloc(&at, sizeof words));
    OK(make(&stream, 1));
    int shares = argc > 3 && !strcmp(argv[3], "--share");
    kernel = argc > 3 && !shares ? kernel_of(argv[3]) : NULL;
    if (shares)
        share(argv[1], at);
    begin(words, rank);
    OK(in(at, words, sizeof words, stream));
    OK(wait(stream));
    for (step = 0; until_more(&steps, step); step++) {
        uint64_t mine, next = 0;
        OK(out(words, at, sizeof words, stream));
        OK(wait(stream));
        mine = words[step % WORDS];
        MPI_Sendrecv(&mine, 1, MPI_UINT64_T, (rank + 1) % size, 0, &next, 1, MPI_UINT64_T,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        one_step(kernel, at, stream, next);
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(2000);
    }
    OK(out(words, at, sizeof words, stream));
    OK(wait(stream));
    sum = sum_of(words);
    MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
    if (rank == 0)
        tell(all, steps.steps);
    MPI_Finalize();
    return 0;
}
