/* discard.h - see discard.c. */
#ifndef CAPSULE_DISCARD_H
#define CAPSULE_DISCARD_H
#include <stddef.h>
#include <stdint.h>

/* Private memory becomes zero, and its pages free, sooner or later. 0: it could not be done. */
int discard(uintptr_t from, size_t length);
void discard_free(void); /* all of it, meanwhile the caller goes on */
void discard_wait(void); /* that is done */
#endif
