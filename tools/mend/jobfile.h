/* job.json: the request for a job of `mend run`, so that it can be resumed with exactly that.
 *
 * Program arguments and paths are bytes, not text. Valid UTF-8 is stored as a JSON string, anything
 * else as {"hex": "…"}, two digits a byte. Nothing is dropped or replaced.
 */
#ifndef MEND_JOBFILE_H
#define MEND_JOBFILE_H

#include <jansson.h>

/* A JSON value that stands for exactly these bytes; NULL: no memory. */
json_t *jobfile_bytes(const char *bytes);
/* The bytes that a value stands for, valid as long as the value; NULL: it stands for none. */
const char *jobfile_text(json_t *value);
/* The same of the member `key` of an object. */
const char *jobfile_member(json_t *object, const char *key);

/* Read DIR/job.json. MEND_ERR_NOT_FOUND: there is none. MEND_ERR_PERMISSION: it belongs to another user, or
 * others may write to it. MEND_ERR_DAMAGED: jobfile_write did not write it so. */
int jobfile_read(const char *dir, json_t **job);
/* The same from a text; messages call it `path`. */
int jobfile_parse(const char *text, size_t size, const char *path, json_t **job);
/* Replace DIR/job.json atomically. */
int jobfile_write(const char *dir, json_t *job);
/* Does a mend run hold DIR/running? 1: yes, the job is there. 0: no, it has ended. -1: nobody knows. */
int jobfile_held(const char *dir);

#endif
