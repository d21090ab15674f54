/* hwloc_plugins.h - keep hwloc, inside MPI and PMIx, from loading GPU drivers.
 *
 * hwloc queries each GPU driver for which it has a plugin. OpenCL's brings a compiler, a thread for every core and
 * the GPU's driver into the process. MPI and PMIx use nothing that these plugins find. We keep what the user has set.
 */
#ifndef MEND_BASE_HWLOC_PLUGINS_H
#define MEND_BASE_HWLOC_PLUGINS_H

#include <stdlib.h>

static inline void mend_hwloc_without_gpus(void)
{
    setenv("HWLOC_COMPONENTS", "-opencl,-gl,-cuda,-nvml,-rsmi,-levelzero", 0);
    setenv("HWLOC_PLUGINS_BLACKLIST",
           "hwloc_opencl.so,hwloc_gl.so,hwloc_cuda.so,hwloc_nvml.so,hwloc_rsmi.so,"
           "hwloc_levelzero.so",
           0);
}

#endif
