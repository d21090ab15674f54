/* GPUs: what the driver reports, and how fast they copy. */
#include "doctor.h"

#include <device/device.h>
#include <mend/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define GIB ((double)((size_t)1 << 30))

static void tell(doctor *d, int number, int version)
{
    mend_device_facts f;
    if (mend_device_describe(number, true, &f)) {
        doctor_find(d, "gpu", DOCTOR_MISSING,
                    "another program may have taken its memory; see nvidia-smi",
                    "device %d%s%s: %s", number, f.name[0] ? ", " : "", f.name, mend_error_text());
        return;
    }
    doctor_finding *found = doctor_find(
        d, "gpu", DOCTOR_GOOD, NULL,
        "device %d, %s: %.1f of %.1f GiB free, driver for CUDA %d.%d; copied at %.3g GB/s inside, "
        "%.3g to the host, %.3g from it",
        number, f.name, (double)f.memory_free / GIB, (double)f.memory / GIB, version / 1000,
        version % 1000 / 10, f.inside / 1e9, f.to_host / 1e9, f.to_device / 1e9);
    found->value = f.to_host / 1e9;
    found->unit = "GB/s";
}

/* As lower/gpu/gpu.c of the capsule does. */
static void tell_mps(doctor *d)
{
    char path[4200];
    const char *folder = getenv("CUDA_MPS_PIPE_DIRECTORY");
    snprintf(path, sizeof path, "%.4100s/control", folder && *folder ? folder : "/tmp/nvidia-mps");
    if (!access(path, F_OK))
        doctor_find(d, "gpu", DOCTOR_MISSING, "stop MPS: echo quit | nvidia-cuda-mps-control",
                    "MPS shares the GPUs here (%.300s exists): unmodified programs on them get no "
                    "checkpoints",
                    path);
}

/* Can it save an unmodified program? Here we see what the driver has, not what it does. */
static void tell_images(doctor *d, int version)
{
    enum { CUDA_OF_DRIVER_580 = 13000 };
    struct utsname machine;
    if (!mend_device_holds_processes()) {
        doctor_find(d, "gpu", DOCTOR_MISSING, "570 or newer is needed",
                    "the driver is too old for checkpoints of unmodified programs on the GPU; "
                    "regions and views on it are saved");
        return;
    }
    doctor_find(d, "gpu", DOCTOR_GOOD, NULL,
                "the driver has the functions that save an unmodified program on the GPU (mend "
                "exec); whether it saves yours, the first checkpoint shows");
    if (version >= CUDA_OF_DRIVER_580)
        doctor_find(d, "gpu", DOCTOR_GOOD, NULL,
                    "what was saved can go on on other GPUs of the same kind (capsule.gpu_map)");
    else
        doctor_find(d, "gpu", DOCTOR_MISSING, "driver 580 or newer is needed for others",
                    "what was saved goes on on the same GPUs only");
    tell_mps(d);
    if (!uname(&machine) && strcmp(machine.machine, "x86_64"))
        doctor_find(d, "gpu", DOCTOR_MISSING, "try it with mend exec, and compare the results",
                    "saving an unmodified program on the GPU was never tried on %s",
                    machine.machine);
}

void doctor_check_gpu(doctor *d)
{
    int count = 0, version = 0;
    int rc = mend_device_survey(&count, &version);
    if (rc == MEND_ERR_NOT_FOUND)
        doctor_find(d, "gpu", DOCTOR_GOOD, NULL, "no GPU: no driver (libcuda.so.1)");
    else if (rc || !count)
        doctor_find(d, "gpu", DOCTOR_GOOD, NULL, "no GPU: %s",
                    rc ? mend_error_text() : "the driver finds no device");
    for (int i = 0; i < count; i++)
        tell(d, i, version);
    if (count)
        tell_images(d, version);
}
