/* online/state.c - what this process knows about itself (online/online.h). */
#include "online/online.h"

struct online online = {.leaving = 1, .hear_every = 1};
