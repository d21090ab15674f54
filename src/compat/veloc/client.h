/* The parts of the VeloC face among themselves. */
#ifndef COMPAT_VELOC_CLIENT_H
#define COMPAT_VELOC_CLIENT_H

#include <mend/store.h>
#include <stdbool.h>

struct veloc_config {
    char *scratch, *persistent, *failure_domain;
    bool sync;
    long max_versions, scratch_versions;   /* 0: keep all */
    long ec_interval, persistent_interval; /* seconds; 0: always; negative: never */
};

/* VeloC's configuration file. Errors: MEND_ERR_CONFIG with file and line. */
int mend_veloc_config_read(struct veloc_config *config, const char *path);
void mend_veloc_config_free(struct veloc_config *config);

/* A memory region; name NULL: for checkpoints of every name. */
struct veloc_region {
    int id;
    char *name;
    void *address;
    size_t bytes;
};

/* One store per checkpoint name, opened when the name is first used. */
struct veloc_named {
    char name[65];
    mend_store *store;
    double last_erasure, last_persistent;
    struct veloc_named *next;
};

/* A piece of the checkpoint that is being made: a copy of a region, or a routed file. */
struct veloc_piece {
    int id;
    void *copy; /* NULL: a file */
    size_t bytes, room;
    char *original, *routed;
};

enum veloc_phase { VELOC_IDLE, VELOC_IN_CHECKPOINT, VELOC_IN_RESTART };

/* The interface has no handle: there is one client in a process. */
struct veloc_client {
    struct veloc_config config;
    MPI_Comm comm; /* MPI_COMM_NULL: single mode */
    int rank, size;
    int domains; /* failure domains that the ranks are on */
    struct veloc_region *regions;
    size_t region_count;
    struct veloc_named *named;
    enum veloc_phase phase;
    struct veloc_named *current;
    int version;
    struct veloc_piece
        *pieces; /* kept from checkpoint to checkpoint, so that memory stays touched */
    size_t piece_count, piece_room;
    int file_count;
};

/* NULL, with the message set, before VELOC_Init. */
struct veloc_client *mend_veloc_client(void);
/* Log mend_error_text() and give VELOC_FAILURE for a negative code. */
int mend_veloc_result(int code);
/* The store of a name; opened (collective) if it is not yet. */
int mend_veloc_store(struct veloc_client *client, const char *name, struct veloc_named **named);
/* The beginning of a checkpoint or restart: nothing else is under way; the store is open. */
int mend_veloc_begin(struct veloc_client *client, const char *name, int version);
/* Do all ranks say yes? Collective in collective mode. Errors: MEND_ERR_PEER_FAILED. */
int mend_veloc_all(struct veloc_client *client, bool yes, bool *all);
/* The regions that a selection of the current name means, in a malloc'ed array. */
int mend_veloc_select(struct veloc_client *client, int mode, const int *ids, int id_count,
                      struct veloc_region **chosen, size_t *count);
/* The next piece of the checkpoint that is being made, with the memory that it had last time; NULL: no memory. */
struct veloc_piece *mend_veloc_next_piece(struct veloc_client *client);
/* The label of a routed file in the store: its name, or what fits of it with a sum of the whole. */
const char *mend_veloc_label(const char *name, char *label);

/* Files are regions with ids from here on: far from what a program uses. */
#define VELOC_FILE_ID_FIRST (-2000000000)

#endif
