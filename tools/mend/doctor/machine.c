/* Cores, memory, storage: how many, how large, how fast. */
#include "doctor.h"

#include <base/event.h>
#include <base/fail.h>
#include <base/io.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { SAMPLE_BYTES = 64 << 20, REPEATS = 5 };

static void check_cores(doctor *d)
{
    cpu_set_t set;
    int usable = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    doctor_finding *f = doctor_find(
        d, "cores", DOCTOR_GOOD, NULL,
        "%d usable: for example mend run -n %d --spares 1 (spares sleep and need no core)", usable,
        usable);
    f->value = usable;
    f->unit = "cores";
}

/* The best of several copies between two buffers that are mapped already. */
static double copy_speed(void)
{
    char *from = malloc(SAMPLE_BYTES), *to = malloc(SAMPLE_BYTES);
    double best = 0;
    if (from && to) {
        memset(from, 1, SAMPLE_BYTES);
        memset(to, 2, SAMPLE_BYTES);
        for (int i = 0; i < REPEATS; i++) {
            double start = mend_now();
            memcpy(to, from, SAMPLE_BYTES);
            __asm__ volatile(""
                             :
                             : "r"(to)
                             : "memory"); /* the copy is used, as far as the compiler knows */
            double speed = SAMPLE_BYTES / (mend_now() - start) / 1e9;
            best = speed > best ? speed : best;
        }
    }
    free(from);
    free(to);
    return best;
}

static void check_memory(doctor *d)
{
    double total = 0, available = 0;
    char line[256];
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "MemTotal: %lf", &total);
        sscanf(line, "MemAvailable: %lf", &available);
    }
    if (file)
        fclose(file);
    double speed = copy_speed();
    doctor_finding *f = doctor_find(d, "memory", DOCTOR_GOOD, NULL,
                                    "%.1f GB, %.1f GB available, copied at %.1f GB/s",
                                    total * 1024 / 1e9, available * 1024 / 1e9, speed);
    f->value = speed;
    f->unit = "GB/s";
}

void doctor_check_machine(doctor *d)
{
    check_cores(d);
    check_memory(d);
}

/* Write a file, sync it, and read it back, past the page cache where possible. */
static int measure(const char *path, const char *data, double *write_speed, double *read_speed)
{
    mend_io_remove(path);
    int fd = mend_io_create(path);
    if (fd < 0)
        return fd;
    double start = mend_now();
    int code = mend_io_write(fd, data, SAMPLE_BYTES, path);
    if (!code)
        code = mend_io_fsync(fd, path);
    *write_speed = SAMPLE_BYTES / (mend_now() - start) / 1e9;
    char *back = malloc(SAMPLE_BYTES);
    if (!code && back) {
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        memset(back, 1, SAMPLE_BYTES);
        start = mend_now();
        code = mend_io_pread(fd, back, SAMPLE_BYTES, 0, path);
        *read_speed = SAMPLE_BYTES / (mend_now() - start) / 1e9;
        if (!code && memcmp(back, data, SAMPLE_BYTES) != 0)
            code = mend_fail(MEND_ERR_DAMAGED, "%s: the data read differs from the data written",
                             path);
    }
    free(back);
    close(fd);
    mend_io_remove(path);
    return code;
}

void doctor_check_storage(doctor *d, const char *folder)
{
    char path[4096];
    double write_speed = 0, read_speed = 0;
    struct statvfs space;
    snprintf(path, sizeof path, "%s/mend-doctor-%d", folder, (int)getpid());
    if (statvfs(folder, &space) ||
        (double)space.f_bavail * (double)space.f_frsize < 2.0 * SAMPLE_BYTES) {
        doctor_find(d, "storage", DOCTOR_MISSING, "choose another folder with --dir",
                    "%s has no room for a test file of 64 MiB", folder);
        return;
    }
    char *data = malloc(SAMPLE_BYTES);
    if (!data)
        return;
    for (size_t i = 0; i < SAMPLE_BYTES; i += 8)
        memcpy(data + i, &(unsigned long long){i * 0x9E3779B97F4A7C15ull}, 8);
    int code = measure(path, data, &write_speed, &read_speed);
    free(data);
    if (code) {
        doctor_find(d, "storage", DOCTOR_MISSING, "choose another folder with --dir", "%s: %s",
                    folder, mend_error_text());
        return;
    }
    doctor_finding *f =
        doctor_find(d, "storage", DOCTOR_GOOD, NULL,
                    "%s: %.2f GB/s written and made durable, %.2f GB/s read, %.0f GB free", folder,
                    write_speed, read_speed, (double)space.f_bavail * (double)space.f_frsize / 1e9);
    f->value = write_speed;
    f->unit = "GB/s";
}
