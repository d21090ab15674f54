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
    size_t stored; /* bytes in the checkpoint that was made or recovered last */
    void *part;    /* its copy, between FTI_AddVarICP and FTI_FinalizeICP */
};

/* An id that the program knows by a name; kept in the checkpoints. */
struct fti_name {
    int id;
    char *text;
};

/* A checkpoint in parts: FTI_InitICP to FTI_FinalizeICP. */
enum fti_parts { FTI_PARTS_NONE, FTI_PARTS_OFF, FTI_PARTS_ON };

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
    struct fti_name *names;
    int name_count;
    char *name_text; /* as it is saved */
    int *type_sizes, type_count;
    enum fti_parts parts;
    int parts_id, parts_level;
    int status;             /* what FTI_Status says */
    bool looking;           /* the version to recover is open */
    bool lost;              /* there should be a checkpoint to recover, and there is none */
    bool told;              /* the configuration says that a checkpoint exists */
    int32_t last_id;        /* of a checkpoint, by the program */
    mend_version_t version; /* of the last one, -1: none */
    int failed;             /* saves since then, each with a number of its own */
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
struct fti_variable *mend_fti_find(struct fti_client *client, int id);

/* checkpoint.c: all variables as checkpoint `id`. Collective, agreed. */
int mend_fti_save(struct fti_client *client, int id, int level);
/* Give it to the store as the next version. Collective, agreed. */
int mend_fti_store(struct fti_client *client, const mend_save_options *options);
/* The last checkpoint to level 4, from where it is: the program may have freed its variables. Collective, agreed. */
int mend_fti_lift_last(struct fti_client *client);
/* Is there such a level? */
int mend_fti_check_level(int level);

/* names.c: register the names as a region of the next checkpoint; take them from the opened version. */
int mend_fti_names_put(struct fti_client *client);
int mend_fti_names_get(struct fti_client *client);
void mend_fti_names_free(struct fti_client *client);

/* parts.c: regions are the program's memory again. */
int mend_fti_parts_end(struct fti_client *client);

#endif
