/* forge.c - an image whose checksums are right but whose content is not, in place:
 *   forge IMAGE arch|version|page|cpu   of another machine
 *   forge IMAGE mutate SEED             an address, a length or a count in its tables, or in what a restart needs of the
 *                                       upper half, is a wrong one; says which
 *   forge IMAGE check TIMES SEED        the checks that a restart makes, on tables with any bytes changed: they end
 */
#include "images/image.h"

#include <base/io.h>
#include <mend/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ground ground = {.page_size = 4096}; /* for images/check.c; set from the image */
static uint64_t state;
static uint8_t *stream;
static const mend_image_head *head;
static struct image_meta *meta;
static struct mapping *mappings;
static struct run *runs;
static struct named_file *files;
static char *names;

static uint64_t any(uint64_t n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 20) % n;
}

static int put(void *file, const void *bytes, size_t count)
{
    return fwrite(bytes, 1, count, file) == count ? 0 : MEND_ERR_IO;
}

/* Where the image keeps the byte at `address` of the upper half. */
static void *place(uint64_t address)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < head->region_count; i++)
        if (head->regions[i].id == IMAGE_MEMORY)
            at = head->regions[i].offset;
    for (uint64_t i = 0; i < meta->runs; i++) {
        if (address >= runs[i].from && address < runs[i].to && !runs[i].in_base)
            return stream + at + (address - runs[i].from);
        at += runs[i].in_base ? 0 : runs[i].to - runs[i].from;
    }
    return NULL;
}
#define UPPER(field) place((uint64_t)&meta->upper->field)
#ifdef __aarch64__
#define TARGET UPPER(context.x[11])
#else
#define TARGET UPPER(context.pc)
#endif

/* No address of a capsule has these bits. */
static uint64_t elsewhere(void)
{
    return 1ull << (45 + any(18));
}

static void spoil(void *word, size_t bytes)
{
    uint64_t value = 0;
    if (!word)
        exit(2);
    memcpy(&value, word, bytes);
    value = bytes == 8 ? value ^ elsewhere() : value + 0x10000000u + any(1000);
    memcpy(word, &value, bytes);
}

static const char *mutate(void)
{
    uint64_t m = any(meta->mappings), r = any(meta->runs);
    switch (any(meta->files ? 22 : 18)) {
    case 0: return spoil(&mappings[m].from, 8), "the beginning of a mapping";
    case 1: return spoil(&mappings[m].to, 8), "the end of a mapping";
    case 2: return mappings[m].prot |= 8 << any(20), "the rights of a mapping";
    case 3: return spoil(&runs[r].from, 8), "the beginning of a run";
    case 4: return runs[r].to -= 1 + any(4095), "the end of a run";
    case 5: return runs[r].in_base ^= 1, "where a run is";
    case 6: return meta->mappings += 1 + (uint32_t)any(1u << 30), "the number of mappings";
    case 7: return meta->runs ^= elsewhere(), "the number of runs";
    case 8: return meta->bytes += 1 + any(1 << 30), "the number of bytes";
    case 9: return spoil(&meta->upper, 8), "the place of the upper half's state";
    case 10: return spoil(&meta->tid_address, 8), "the place of the thread's id";
    case 11: return spoil(&meta->steering.cursor, 8), "the next address";
    case 12: return spoil(UPPER(context.sp), 8), "the stack pointer";
    case 13: return spoil(TARGET, 8), "the return address";
    case 14: return spoil(UPPER(thread_pointer), 8), "the thread pointer";
    case 15: return spoil(UPPER(nthreads), 4), "the number of threads";
    case 16: return spoil(UPPER(user_op), 8), "the function for operations";
    case 18: return mappings[m].file = meta->files + 1 + any(1000), "the file of a mapping";
    case 19: return files[any(meta->files)].name ^= elsewhere(), "the name of a file";
    case 20: return meta->files += 1 + (uint32_t)any(1u << 30), "the number of files";
    case 21: return names[meta->names - 1] = 'x', "the end of the names";
    default: return spoil(UPPER(sent_to), 8), "the counts of messages";
    }
}

static int check(long times)
{
    size_t maps = meta->mappings * sizeof *mappings, all = meta->runs * sizeof *runs;
    size_t named = meta->files * sizeof *files + meta->names;
    all += named;
    struct upper *u = malloc(sizeof *u);
    uint8_t *copy = malloc(sizeof *meta + maps + all);
    long refused = 0;
    if (!u || !copy)
        return 2;
    for (long t = 0; t < times; t++) {
        memcpy(copy, stream, sizeof *meta + maps + all);
        memcpy(u, place((uint64_t)meta->upper), sizeof *u);
        for (uint64_t n = 1 + any(4); n; n--) {
            if (any(3)) /* the lengths that the tables were read by were checked before */
                copy[(any(2) ? sizeof *meta : 4 * sizeof(uint32_t) + 8) +
                     any(maps + all - 4 * sizeof(uint32_t) - 8)] ^= (uint8_t)(1 << any(8));
            else
                ((uint8_t *)u)[any(sizeof *u)] ^= (uint8_t)(1 << any(8));
        }
        struct image_meta *m = (struct image_meta *)copy;
        m->mappings = meta->mappings;
        m->runs = meta->runs;
        m->files = meta->files;
        m->names = meta->names;
        struct mapping *mm = (struct mapping *)(copy + sizeof *m);
        struct named_file *ff = (struct named_file *)(copy + sizeof *m + maps + all - named);
        refused += image_meta_check(m, mm, (struct run *)(copy + sizeof *m + maps), ff,
                                    (char *)(ff + m->files)) ||
                   image_upper_check(m, mm, u);
    }
    printf("%ld of %ld refused\n", refused, times);
    return refused == 0;
}

int main(int argc, char **argv)
{
    mend_image *image;
    if (argc < 3 || mend_image_open_file(argv[1], &image))
        return 2;
    head = mend_image_info(image);
    stream = malloc(head->stream_bytes);
    if (!stream || mend_image_read(image, 0, stream, head->stream_bytes))
        return 2;
    meta = (struct image_meta *)stream;
    mappings = (struct mapping *)(meta + 1);
    runs = (struct run *)(mappings + meta->mappings);
    files = (struct named_file *)(runs + meta->runs);
    names = (char *)(files + meta->files);
    ground.page_size = meta->page_size;
    if (!strcmp(argv[2], "arch"))
        strcpy(meta->arch, "m68k");
    else if (!strcmp(argv[2], "version"))
        meta->border_version += 1000;
    else if (!strcmp(argv[2], "page"))
        meta->page_size *= 16;
    else if (!strcmp(argv[2], "cpu"))
        meta->machine[0] = ~0ull;
    else if (!strcmp(argv[2], "mutate") && argc == 4) {
        state = strtoull(argv[3], NULL, 10);
        any(2);
        puts(mutate());
    } else if (!strcmp(argv[2], "check") && argc == 5) {
        state = strtoull(argv[4], NULL, 10);
        return check(atol(argv[3]));
    } else
        return 2;
    FILE *f = fopen(argv[1], "r+");
    if (!f || mend_image_write(head, stream, NULL, (mend_sink){put, f}, NULL) || fclose(f))
        return 1;
    return 0;
}
