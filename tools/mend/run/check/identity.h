#ifndef MEND_TOOL_IDENTITY_H
#define MEND_TOOL_IDENTITY_H

#include <image/image.h>

/* A random one. */
void identity_new(char id[MEND_JOB_ID]);
/* With this id, for the program (with its arguments) as it is now. */
void identity_make(mend_image_job *job, const char *id, char *const *program);
/* The file that a program's name means (searched in PATH, if it has no slash). */
void identity_program(const char *name, char *path, size_t size);
/* Set job->id to that of DIR/identity; if there is none, make it from job->id. */
int identity_of_folder(const char *dir, mend_image_job *job);
/* Find the identity of a job that begins or resumes; a resume may be refused. Returns an exit code. */
struct run_job;
int identity_find(struct run_job *job);

#endif
