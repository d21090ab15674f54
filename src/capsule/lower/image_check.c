/* image_check.c - does what an image says of itself fit together, and this machine? */
#include "image.h"

#include <base/fail.h>
#include <string.h>

static int within(const struct image_meta *m, const struct mapping *maps, uint64_t at, uint64_t n)
{
    for (uint32_t i = 0; i < m->mappings; i++) {
        if (at < maps[i].from || at >= maps[i].to)
            continue;
        if (n <= maps[i].to - at)
            return 1;
        n -= maps[i].to - at; /* it may go on in the next one */
        at = maps[i].to;
    }
    return 0;
}

int image_meta_check(const struct image_meta *m, const struct mapping *maps, const struct run *runs)
{
    uint64_t end = 0, bytes = 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < m->mappings; i++) {
        if (maps[i].from < end || maps[i].to <= maps[i].from || maps[i].to > UPPER_END ||
            maps[i].from % page_size || maps[i].to % page_size || maps[i].prot & ~7)
            return mend_fail(MEND_ERR_DAMAGED, "mapping %u is not one of a capsule", i);
        end = maps[i].to;
    }
    end = 0;
    for (uint64_t i = 0; i < m->runs; i++) {
        while (at < m->mappings && maps[at].to <= runs[i].from)
            at++;
        if (at == m->mappings || runs[i].from < maps[at].from || runs[i].to > maps[at].to ||
            runs[i].to <= runs[i].from || runs[i].from < end || runs[i].from % page_size ||
            runs[i].to % page_size)
            return mend_fail(MEND_ERR_DAMAGED, "run %llu is in no mapping", (unsigned long long)i);
        if (runs[i].in_base > 1)
            return mend_fail(MEND_ERR_DAMAGED, "run %llu is nowhere", (unsigned long long)i);
        end = runs[i].to;
        bytes += runs[i].in_base ? 0 : runs[i].to - runs[i].from;
    }
    if (bytes != m->bytes || !within(m, maps, (uint64_t)m->upper, sizeof(struct upper)) ||
        !within(m, maps, (uint64_t)m->tid_address, sizeof(int)) ||
        m->steering.cursor < UPPER_ARENA || m->steering.cursor > UPPER_END ||
        m->steering.break_now < UPPER_BREAK || m->steering.break_now > UPPER_ARENA)
        return mend_fail(MEND_ERR_DAMAGED, "the parts of the image do not fit together");
    return 0;
}
