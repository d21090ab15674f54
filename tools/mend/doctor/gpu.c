/* GPUs: what the driver reports, and how fast they copy. */
#include "doctor.h"

#include <device/device.h>
#include <mend/error.h>

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
    if (count && mend_device_holds_processes())
        doctor_find(d, "gpu", DOCTOR_GOOD, NULL,
                    "the driver can save a program's state on the GPU into images (mend exec)");
    else if (count)
        doctor_find(d, "gpu", DOCTOR_GOOD, NULL,
                    "the driver is too old for images of unmodified programs on the GPU (570 or "
                    "newer is needed); regions and views on the GPU are still saved");
}
