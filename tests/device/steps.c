/* What the driver does when it brings a process' device state into host memory and back, step by step, with a process of
 * its own that uses no MPI and no capsule. For who works on src/capsule/lower/device.
 *
 *     steps victim MIB        counts on the device, says so every 100 ms, until its input ends; then tells whether all was right
 *     steps STEP PID [MS]     state, lock, checkpoint, restore, unlock, thread: the driver's call, its code and its time */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void *library;

static void *need(const char *name)
{
    void *f = library ? dlsym(library, name) : NULL;
    if (!f) {
        printf("no %s\n", name);
        exit(77);
    }
    return f;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *name_of(int code)
{
    int (*name)(int, const char **) = (int (*)(int, const char **))need("cuGetErrorName");
    const char *text = "?";
    name(code, &text);
    return text;
}

static void ok(int code, const char *what)
{
    if (code) {
        printf("victim: %s: %d %s\n", what, code, name_of(code));
        exit(3);
    }
}
#define OK(call) ok(call, #call)

static int victim(size_t bytes)
{
    int (*init)(unsigned) = (int (*)(unsigned))need("cuInit");
    int (*retain)(void **, int) = (int (*)(void **, int))need("cuDevicePrimaryCtxRetain");
    int (*push)(void *) = (int (*)(void *))need("cuCtxPushCurrent_v2");
    int (*alloc)(uint64_t *, size_t) = (int (*)(uint64_t *, size_t))need("cuMemAlloc_v2");
    int (*set)(uint64_t, unsigned, size_t) =
        (int (*)(uint64_t, unsigned, size_t))need("cuMemsetD32_v2");
    int (*get)(void *, uint64_t, size_t) =
        (int (*)(void *, uint64_t, size_t))need("cuMemcpyDtoH_v2");
    int (*sync)(void) = (int (*)(void))need("cuCtxSynchronize");
    uint64_t a = 0;
    void *context = NULL;
    unsigned *back = malloc(bytes);
    OK(init(0));
    OK(retain(&context, 0));
    OK(push(context));
    OK(alloc(&a, bytes));
    unsigned n = 1;
    for (struct pollfd in = {0, POLLIN, 0}; poll(&in, 1, 100) == 0; n++) {
        OK(set(a, n, bytes / 4));
        OK(sync());
        OK(get(back, a, bytes));
        for (size_t i = 0; i < bytes / 4; i++)
            if (back[i] != n) {
                printf("victim: WRONG at %zu: %u, not %u\n", i, back[i], n);
                return 1;
            }
        if (n % 10 == 1) {
            printf("victim: %u\n", n);
            fflush(stdout);
        }
    }
    printf("victim: right, %u rounds\n", n - 1);
    return 0;
}

static int step(const char *what, int pid, unsigned ms)
{
    int (*init)(unsigned) = (int (*)(unsigned))need("cuInit");
    char arguments[64] = {0};
    int code = init(0), value = -1;
    double start = now();
    if (code) {
        printf("%s: cuInit: %d %s\n", what, code, name_of(code));
        return 1;
    }
    if (!strcmp(what, "state"))
        code = ((int (*)(int, int *))need("cuCheckpointProcessGetState"))(pid, &value);
    else if (!strcmp(what, "thread"))
        code = ((int (*)(int, int *))need("cuCheckpointProcessGetRestoreThreadId"))(pid, &value);
    else {
        char function[80];
        snprintf(function, sizeof function, "cuCheckpointProcess%c%s", what[0] - 32, what + 1);
        if (!strcmp(what, "lock"))
            memcpy(arguments, &ms, sizeof ms);
        code = ((int (*)(int, void *))need(function))(pid, arguments);
    }
    printf("%s: %d %s, value %d, %.3f s\n", what, code, code ? name_of(code) : "ok", value,
           now() - start);
    return code != 0;
}

int main(int argc, char **argv)
{
    library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (argc < 3)
        return 2;
    if (!strcmp(argv[1], "victim"))
        return victim((size_t)atoi(argv[2]) << 20);
    return step(argv[1], atoi(argv[2]), argc > 3 ? (unsigned)atoi(argv[3]) : 10000);
}
