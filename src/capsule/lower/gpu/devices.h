/* devices.h - the devices on which a program continues (devices.c). */
#ifndef CAPSULE_GPU_DEVICES_H
#define CAPSULE_GPU_DEVICES_H
#include <stddef.h>

enum { DEVICE_ID = 16, DEVICE_TEXT = 41, DEVICES_MOST = 16 };

/* As in cuda.h: CUcheckpointGpuPair. */
struct device_pair {
    unsigned char from[DEVICE_ID], to[DEVICE_ID];
};

/* Names the devices that the driver's library sees, in one line without spaces at its ends. */
void devices_name(void *library, char *line, size_t room);
/* For a program that used the devices of `line`, with the user's map ("": none): at most DEVICES_MOST pairs,
 * or 0 if the driver needs none. -1: impossible, and stdout says why. */
int devices_pair(void *library, const char *line, const char *map, struct device_pair *pairs,
                 unsigned *count);
#endif
