/* What the parts of `mend doctor` share: a list of findings. */
#ifndef MEND_TOOL_DOCTOR_H
#define MEND_TOOL_DOCTOR_H

#include <stddef.h>

enum doctor_status {
    DOCTOR_GOOD,
    DOCTOR_MISSING, /* something works less well without it */
    DOCTOR_BAD,     /* jobs cannot be repaired while running */
};

typedef struct doctor_finding {
    char *name; /* short and fixed, for scripts: "ulfm"; or a machine's name */
    enum doctor_status status;
    char *text;         /* what was found, with its figures */
    const char *advice; /* how to get it; NULL if nothing is missing */
    const char *unit;   /* of value; NULL if there is no figure */
    double value;
} doctor_finding;

typedef struct doctor {
    doctor_finding *list;
    int count;
} doctor;

doctor_finding *doctor_find(doctor *d, const char *name, enum doctor_status status,
                            const char *advice, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

void doctor_check_mpi(doctor *d);
/* The version of the Open MPI that starts jobs; "" if there is none. */
void doctor_open_mpi(char *number, size_t size);
void doctor_check_machine(doctor *d);
void doctor_check_kernel(doctor *d);
void doctor_check_container(doctor *d);
void doctor_check_gpu(doctor *d);
/* Write and read speeds of a folder. */
void doctor_check_storage(doctor *d, const char *folder);

/* Print this machine's answer to doctor_check_hosts() on another one: one line. 0, or -1 without memory. */
int doctor_answer(const char *folder);
/* Ask every machine of a list (NAME[:SLOTS],…) or a hostfile through `agent`; folder: one that they should share, or NULL.
 * 0, or -1 with a sentence in `why`. */
int doctor_check_hosts(doctor *d, const char *list, const char *file, const char *agent,
                       const char *folder, char *why, size_t size);

#endif
