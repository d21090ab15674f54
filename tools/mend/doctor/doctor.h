/* What the parts of `mend doctor` share: a list of findings. */
#ifndef MEND_TOOL_DOCTOR_H
#define MEND_TOOL_DOCTOR_H

enum doctor_status {
    DOCTOR_GOOD,
    DOCTOR_MISSING, /* something works less well without it */
    DOCTOR_BAD,     /* jobs cannot be repaired while running */
};

typedef struct doctor_finding {
    const char *name; /* short and fixed, for scripts: "ulfm" */
    enum doctor_status status;
    char *text;         /* what was found, with its figures */
    const char *advice; /* how to get it; NULL if nothing is missing */
    const char *unit;   /* of value; NULL if there is no figure */
    double value;
} doctor_finding;

enum { DOCTOR_FINDINGS_MAX = 40 };
typedef struct doctor {
    doctor_finding list[DOCTOR_FINDINGS_MAX];
    int count;
} doctor;

doctor_finding *doctor_find(doctor *d, const char *name, enum doctor_status status,
                            const char *advice, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

void doctor_check_mpi(doctor *d);
void doctor_check_machine(doctor *d);
void doctor_check_kernel(doctor *d);
/* Write and read speeds of a folder. */
void doctor_check_storage(doctor *d, const char *folder);

#endif
