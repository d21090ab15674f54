/* What tests ask of the stand-in of the GPU's driver (fake_driver.c), by dlsym. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

#include <stddef.h>
#include <stdint.h>

struct fake_driver {
    /* The hit-th call (-1: every call) of `function` ("*": of any) from now on fails with `code`. sticky: so does every call after
     * it. late: the call succeeds, and its work fails when its turn comes (copies and kernels). */
    void (*breaks)(const char *function, int hit, int code, int sticky, int late);
    void (*heal)(void);
    int (*waiting)(void);                    /* for the failure: it has not come yet */
    size_t (*in_use)(int device);            /* bytes allocated */
    void (*limit)(int device, size_t bytes); /* how much memory it has */
    uint64_t (*moved)(void);                 /* bytes that crossed the bus, kernels' included */
    int (*calls)(const char *function);
    void *(*managed)(size_t bytes); /* memory that both sides may touch */
    void (*kernels)(int on);        /* off: modules cannot be loaded */
    void *(*context)(int device);
};

/* const struct fake_driver *fake_driver_handle(void); */

#endif
