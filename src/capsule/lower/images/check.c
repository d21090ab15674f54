/* images/check.c - is an image consistent in itself? */
#include "images/image.h"

#include <base/fail.h>
#include <string.h>
#include <sys/mman.h>

static int within(const struct image_meta *m, const struct mapping *maps, uint64_t at, uint64_t n)
{
    for (uint32_t i = 0; i < m->mappings; i++) {
        if (at < maps[i].from || at >= maps[i].to)
            continue;
        if (n <= maps[i].to - at)
            return 1;
        n -= maps[i].to - at; /* it may continue in the next mapping */
        at = maps[i].to;
    }
    return 0;
}

/* Is `at` in a mapping with these rights? */
static int lies_in(const struct image_meta *m, const struct mapping *maps, uint64_t at, int rights)
{
    for (uint32_t i = 0; i < m->mappings; i++)
        if (at >= maps[i].from && at < maps[i].to)
            return (maps[i].prot & rights) == rights;
    return 0;
}

static int threads_fit(const struct image_meta *m, const struct mapping *maps,
                       const struct upper *u)
{
    if (u->nthreads < 1 || u->nthreads > MAX_THREADS)
        return 0;
    for (int i = 0; i < u->nthreads; i++) {
        const struct upper_thread *t = &u->threads[i];
        if (t->parked &&
            (!lies_in(m, maps, (uint64_t)t->frame, PROT_WRITE) ||
             !lies_in(m, maps, (uint64_t)t->thread_pointer, PROT_WRITE) ||
             !lies_in(m, maps, (uint64_t)t->thread_pointer + (uint64_t)u->tid_offset, PROT_WRITE)))
            return 0;
    }
    return 1;
}

int image_upper_check(const struct image_meta *m, const struct mapping *maps, const struct upper *u)
{
    if (!lies_in(m, maps, context_target(&u->context), PROT_EXEC) ||
        !lies_in(m, maps, (uint64_t)u->user_op, PROT_EXEC) ||
        !lies_in(m, maps, (uint64_t)u->each_request, PROT_EXEC))
        return mend_fail(MEND_ERR_DAMAGED, "its program would continue where there is no code");
    if (!lies_in(m, maps, u->context.sp, PROT_WRITE) ||
        !lies_in(m, maps, (uint64_t)u->thread_pointer, PROT_WRITE) ||
        !lies_in(m, maps, (uint64_t)u->thread_pointer + (uint64_t)u->tid_offset, PROT_WRITE) ||
        !threads_fit(m, maps, u))
        return mend_fail(MEND_ERR_DAMAGED, "its threads have no stacks");
    if (u->size < 1 || u->rank < 0 || u->rank >= u->size || (uint32_t)u->rank != m->rank ||
        (uint32_t)u->size != m->size ||
        !within(m, maps, (uint64_t)u->sent_to, (uint64_t)u->size * sizeof *u->sent_to) ||
        !within(m, maps, (uint64_t)u->received_from,
                (uint64_t)u->size * sizeof *u->received_from) ||
        (u->cards && !within(m, maps, (uint64_t)u->cards, sizeof *u->cards)) ||
        (m->robust_list && !lies_in(m, maps, (uint64_t)m->robust_list, PROT_WRITE)))
        return mend_fail(MEND_ERR_DAMAGED, "the state of its upper half is inconsistent");
    return 0;
}

static int files_fit(const struct image_meta *m, const struct mapping *maps,
                     const struct named_file *files, const char *names)
{
    if ((m->files || m->names) && (!m->names || names[m->names - 1]))
        return 0;
    for (uint32_t i = 0; i < m->files; i++)
        if (files[i].name >= m->names || names[files[i].name] != '/' || files[i].bytes > INT64_MAX)
            return 0;
    for (uint32_t i = 0; i < m->mappings; i++)
        if (maps[i].file > m->files ||
            (maps[i].file && (maps[i].shared || maps[i].offset % ground.page_size ||
                              maps[i].offset > INT64_MAX / 2)))
            return 0;
    return 1;
}

int image_meta_check(const struct image_meta *m, const struct mapping *maps, const struct run *runs,
                     const struct named_file *files, const char *names)
{
    uint64_t end = 0, bytes = 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < m->mappings; i++) {
        if (maps[i].from < end || maps[i].to <= maps[i].from || maps[i].to > UPPER_END ||
            maps[i].from % ground.page_size || maps[i].to % ground.page_size || maps[i].prot & ~7)
            return mend_fail(MEND_ERR_DAMAGED, "mapping %u does not belong to a capsule", i);
        end = maps[i].to;
    }
    end = 0;
    for (uint64_t i = 0; i < m->runs; i++) {
        while (at < m->mappings && maps[at].to <= runs[i].from)
            at++;
        if (at == m->mappings || runs[i].from < maps[at].from || runs[i].to > maps[at].to ||
            runs[i].to <= runs[i].from || runs[i].from < end || runs[i].from % ground.page_size ||
            runs[i].to % ground.page_size)
            return mend_fail(MEND_ERR_DAMAGED, "run %llu is in no mapping", (unsigned long long)i);
        if (runs[i].in_base > 1)
            return mend_fail(MEND_ERR_DAMAGED, "run %llu has no place in the image",
                             (unsigned long long)i);
        end = runs[i].to;
        bytes += runs[i].in_base ? 0 : runs[i].to - runs[i].from;
    }
    if (bytes != m->bytes || !within(m, maps, (uint64_t)m->upper, sizeof(struct upper)) ||
        !within(m, maps, (uint64_t)m->tid_address, sizeof(int)) ||
        m->steering.cursor < UPPER_ARENA || m->steering.cursor > UPPER_END ||
        m->steering.break_now < UPPER_BREAK || m->steering.break_now > UPPER_ARENA ||
        !files_fit(m, maps, files, names))
        return mend_fail(MEND_ERR_DAMAGED, "the parts of the image are inconsistent");
    return 0;
}
