/* The parts of the SCR face among themselves. */
#ifndef COMPAT_SCR_CLIENT_H
#define COMPAT_SCR_CLIENT_H

#include <limits.h>
#include <mend/store.h>
#include <stdbool.h>
#include <sys/types.h>

enum { SCR_NAME = 256, SCR_RECORD_ID = INT_MIN };

enum scr_copy { SCR_COPY_SINGLE, SCR_COPY_PARTNER, SCR_COPY_XOR, SCR_COPY_RS };

struct scr_config {
    char *prefix, *cache_base, *job_name, *current;
    enum scr_copy copy;
    long set_size, set_failures, cache_size, prefix_size, flush;
    long checkpoint_interval, checkpoint_seconds;
    double checkpoint_overhead; /* percent */
    long halt_seconds, end_time;
    bool halt_enabled;
};

/* The parameters: environment, SCR_Config, file. Errors: MEND_ERR_CONFIG, by name. */
int mend_scr_config_read(struct scr_config *config);
void mend_scr_config_free(struct scr_config *config);

/* A file of the dataset at hand. */
struct scr_file {
    char *name;   /* below the prefix */
    char *routed; /* where the program has it */
    size_t bytes;
    mode_t mode;
};

enum scr_phase { SCR_IDLE, SCR_IN_OUTPUT, SCR_IN_RESTART };

/* The interface has no handle: there is one client in a process. */
struct scr_client {
    struct scr_config config;
    MPI_Comm comm;
    int rank, size, domains;
    mend_store *store;
    char *cache; /* this job's node-local folder */
    char *home;  /* PREFIX/.scr-mend */
    enum scr_phase phase;
    char name[SCR_NAME]; /* of the dataset at hand */
    int flags;
    struct scr_file *files;
    int file_count;
    mend_version_t version;  /* the last, -1: none */
    int failed;              /* saves since then, each with a number of its own */
    mend_version_t flushed;  /* the last at the global level, -1: none */
    mend_version_t limit;    /* SCR_Have_restart offers none above it */
    mend_version_t offered;  /* by SCR_Have_restart, -1: none */
    mend_version_t *dropped; /* versions that are not offered any more */
    int dropped_count;
    int checkpoints, outputs; /* of this run; outputs that are no checkpoints */
    int need_calls;
    double began, last_checkpoint, checkpoint_seconds, output_began; /* rank 0's clock */
};

/* NULL, with the message set, before SCR_Init. */
struct scr_client *mend_scr_client(void);
/* Log mend_error_text() and give SCR_FAILURE for a negative code. */
int mend_scr_result(int code);

/* files.c: `name` below the prefix, in a malloc'ed string. */
int mend_scr_relative(const struct scr_client *client, const char *name, char **relative);
int mend_scr_add_file(struct scr_client *client, const char *relative, const char **routed);
int mend_scr_measure_files(struct scr_client *client);
void mend_scr_remove_files(struct scr_client *client);
/* Copy the files of the dataset at hand to their names below the prefix. */
int mend_scr_place_files(struct scr_client *client);
/* Write file `index` of the opened version to `path`. */
int mend_scr_extract(struct scr_client *client, int index, const struct scr_file *file,
                     const char *path);

/* record.c: what a version says of itself: its name, its flags, its files. */
int mend_scr_record_write(const struct scr_client *client, char **text, size_t *size);
/* Of the opened version, into the client's dataset at hand. */
int mend_scr_record_read(struct scr_client *client);
bool mend_scr_is_name(const char *name);

/* datasets.c: which version is called `name`? Collective, agreed. */
int mend_scr_find(struct scr_client *client, const char *name, mend_version_t *version);
/* The list of versions that are not offered any more: read it, add one (-1: none), forget those from `from` on.
 * Collective, agreed. */
int mend_scr_dropped_read(struct scr_client *client);
int mend_scr_dropped_change(struct scr_client *client, mend_version_t add, mend_version_t from);
/* The newest version up to client->limit that is not dropped; MEND_ERR_NO_VERSION: none. Collective, agreed. */
int mend_scr_newest(struct scr_client *client, mend_version_t *version);
/* Open a version, for a restart or for a look, and read its record. Collective, agreed. */
int mend_scr_open_version(struct scr_client *client, mend_version_t version, bool restart);

/* output.c: the files of the dataset at hand as the next version. Collective, agreed. */
int mend_scr_save(struct scr_client *client, unsigned levels);
/* The level of every checkpoint. */
unsigned mend_scr_cache_level(const struct scr_client *client);
/* The last checkpoint to the shared file system, and its files to their names. Collective, agreed. */
int mend_scr_flush_last(struct scr_client *client);

#endif
