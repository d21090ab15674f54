/* Save N versions of a small sample, in a single process; with a driver (MEND_DEVICE_DRIVER) a part of it is on a GPU. */
#define MEND_STORE_NO_MPI
#include <mend/store.h>

#include <stdio.h>
#include <stdlib.h>

#include "../harness/driver/gpu.h"

int main(int argc, char **argv)
{
    static char data[10000];
    mend_store *s = NULL;
    int rc = mend_store_open_single("sample", NULL, &s);
    if (rc == 0)
        rc = mend_store_region(s, 1, "data", data, sizeof data);
    if (rc == 0 && getenv("MEND_DEVICE_DRIVER") && gpu_start(0))
        rc = mend_store_region(s, 2, "grid", gpu_new(5000), 5000);
    for (long v = 1; rc == 0 && v <= (argc > 1 ? atol(argv[1]) : 3); v++) {
        data[v] = (char)v;
        rc = mend_store_save(s, v);
    }
    if (rc == 0)
        rc = mend_store_close(s);
    if (rc)
        fprintf(stderr, "store_writer: %s\n", mend_error_text());
    return rc != 0;
}
