/* Finds the driver in the process. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <base/config.h>
#include <base/fail.h>

#include "driver.h"

#define LIBRARY "libcuda.so.1"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct driver table;
static void *loaded; /* the library that the table points into */
static _Atomic(const struct driver *) found;

static int fill(void *library)
{
#define DRIVER_LOOK(name, suffix, parameters)             \
    *(void **)&table.name = dlsym(library, #name suffix); \
    if (!table.name)                                      \
        return mend_fail(MEND_ERR_UNSUPPORTED,            \
                         "the GPU's driver has no function %s: it is too old", #name suffix);
    DRIVER_FUNCTIONS(DRIVER_LOOK)
#undef DRIVER_LOOK
    return 0;
}

/* The library stays loaded: its owner may close it, but we still hold addresses in it. */
int driver_find(bool load, const struct driver **out)
{
    *out = atomic_load_explicit(&found, memory_order_acquire);
    if (*out)
        return 0;
    const char *other = mend_setting_string(MEND_KEY_DEVICE_DRIVER);
    bool own = other && *other;
    void *library = own ? dlopen(other, RTLD_NOW | RTLD_LOCAL)
                        : dlopen(LIBRARY, RTLD_NOW | (load ? 0 : RTLD_NOLOAD));
    if (!library && own)
        return mend_fail(MEND_ERR_CONFIG, "device.driver = %s: %s", other, dlerror());
    if (!library)
        return load ? mend_fail(MEND_ERR_NOT_FOUND, "there is no " LIBRARY) : 0;
    pthread_mutex_lock(&lock);
    int rc = atomic_load_explicit(&found, memory_order_relaxed) ? 0 : fill(library);
    if (rc == 0)
        loaded = library;
    if (rc == 0)
        atomic_store_explicit(&found, &table, memory_order_release);
    pthread_mutex_unlock(&lock);
    *out = rc ? NULL : &table;
    return rc;
}

bool driver_has(const char *function)
{
    return atomic_load_explicit(&found, memory_order_acquire) && dlsym(loaded, function);
}

int driver_check(const struct driver *driver, result code, const char *function)
{
    const char *name = NULL;
    if (code == 0)
        return 0;
    if (driver->cuGetErrorName(code, &name) != 0 || !name)
        name = "an error without a name";
    return mend_fail(code == ERROR_OUT_OF_MEMORY ? MEND_ERR_NO_MEMORY : MEND_ERR_DEVICE,
                     "%s failed with %s (%d)", function, name, code);
}
