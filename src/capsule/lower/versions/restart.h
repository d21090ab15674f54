/* versions/restart.h - a job goes on from a version on disk. */
#ifndef CAPSULE_RESTART_H
#define CAPSULE_RESTART_H
#include <mend/types.h>

#include "ground/ground.h"

/* version -1: the newest complete one. If there is none, the program (if given) begins. */
void restart(const char *dir, mend_version_t version, int argc, char **argv)
    __attribute__((noreturn));

/* --- relaunch.c: jobs that mend run launches again --- */
void relaunch_open(void);
void relaunch_begin(void); /* the program starts from its beginning */
int relaunch_capture(struct upper *upper, mend_version_t version); /* 0 or MEND_ERR_* */
void relaunch_complete(mend_version_t version);
void relaunch_forget(mend_version_t below);
struct damaged;
/* 0: to the beginning. damaged: newer versions that were found to be so, which are put aside. */
void relaunch_go_back(mend_version_t version, int capture, const struct damaged *damaged);
void input_take(int rank);
#endif
