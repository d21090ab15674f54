/* The parts of the FTI face among themselves. */
#ifndef COMPAT_FTI_CLIENT_H
#define COMPAT_FTI_CLIENT_H

#include <mend/store.h>
#include <stdbool.h>

enum { FTI_LEVELS = 4, FTI_EXEC_ID = 48 };

struct fti_config {
    char *path;
    char *local_dir, *global_dir;
    char exec_id[FTI_EXEC_ID];
    long node_size, group_size;
    double minutes[FTI_LEVELS]; /* between checkpoints of a level; 0: never */
    long failure;               /* 0: a new start; 1: recover; 2: recover what was kept */
    bool keep_last, local_test;
};

/* FTI's configuration file. Errors: MEND_ERR_CONFIG with file and line. */
int mend_fti_config_read(struct fti_config *config, const char *path);
/* Write failure and exec_id back, and leave every other line as it is. One rank does that. */
int mend_fti_config_write(const struct fti_config *config, long failure);
void mend_fti_config_free(struct fti_config *config);

struct fti_variable {
    int id, type;
    void *address;
    size_t bytes;
};

/* When FTI_Snapshot looks at the clock, and what it has done. All ranks have the same, rank 0's clock decides. */
struct fti_clock {
    double begin;         /* rank 0's */
    double done;          /* minutes that have been acted upon */
    long calls, next, at; /* of FTI_Snapshot; the one of the next look, of the last */
    double at_time;
};

/* The interface has no handle: there is one client in a process. */
struct fti_client {
    struct fti_config config;
    MPI_Comm comm;
    int rank, size, domains;
    mend_store *store;
    struct fti_variable *variables;
    int variable_count;
    int *type_sizes, type_count;
    int status;             /* what FTI_Status says */
    bool looking;           /* the version to recover is open */
    int32_t last_id;        /* of a checkpoint, by the program */
    mend_version_t version; /* of the last one, -1: none */
    int last_level;
    struct fti_clock clock;
};

/* NULL, with the message set, before FTI_Init. */
struct fti_client *mend_fti_client(void);
/* Log mend_error_text() and give FTI_NSCS for a negative code. */
int mend_fti_result(int code);
/* Do all ranks say MEND_OK? Else a code for those that did. Collective. */
int mend_fti_agree(struct fti_client *client, int code);
/* No more recovering: the program goes its own way. */
void mend_fti_end_look(struct fti_client *client);

#endif
