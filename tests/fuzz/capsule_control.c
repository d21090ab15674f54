/* What an agent reports to the coordinator: any bytes are dropped or taken, within bounds. */
#include "round/coordinator.h"

#include <stdlib.h>
#include <string.h>

struct coordinator the;

int control_send(int fd, uint32_t type, uint32_t round, const void *bytes, size_t count)
{
    (void)fd, (void)type, (void)round, (void)bytes, (void)count;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct member members[2] = {{.fd = -1}, {.fd = -1}};
    the = (struct coordinator){.ranks = 2, .state = COLLECTING, .member = members};
    size_t half = size / 2;
    for (int i = 0; i < 2; i++) {
        void *payload = malloc(half + 8);
        memcpy(payload, data + (size_t)i * half, half);
        take_clocks(&members[i], payload, half);
        add_counts(payload, half);
        free(payload);
    }
    if (members[0].clocks && members[1].clocks)
        open_doors();
    take_stopped(&members[0]);
    free(members[0].clocks);
    free(members[1].clocks);
    free(the.target);
    return 0;
}
