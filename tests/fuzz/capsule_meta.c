/* What an image says of itself: any tables are refused or fit together, within bounds. */
#include "images/image.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct image_meta meta;
    ground.page_size = 4096;
    if (size < sizeof meta)
        return 0;
    memcpy(&meta, data, sizeof meta);
    size_t left = size - sizeof meta;
    meta.mappings %= (uint32_t)(left / sizeof(struct mapping) + 1);
    size_t maps = meta.mappings * sizeof(struct mapping);
    meta.runs %= (left - maps) / sizeof(struct run) + 1;
    size_t runs = meta.runs * sizeof(struct run);
    meta.files %= (uint32_t)((left - maps - runs) / sizeof(struct named_file) + 1);
    size_t files = meta.files * sizeof(struct named_file);
    meta.names %= left - maps - runs - files + 1;
    struct mapping *mapping = malloc(maps + 1);
    struct run *run = malloc(runs + 1);
    struct named_file *file = malloc(files + 1);
    char *names = malloc(meta.names + 1);
    struct upper *upper = calloc(1, sizeof *upper);
    memcpy(mapping, data + sizeof meta, maps);
    memcpy(run, data + sizeof meta + maps, runs);
    data += sizeof meta + maps + runs;
    memcpy(file, data, files);
    memcpy(names, data + files, meta.names);
    left -= maps + runs + files + meta.names;
    data += files + meta.names;
    memcpy(upper, data, left < sizeof *upper ? left : sizeof *upper);
    image_meta_check(&meta, mapping, run, file, names);
    image_upper_check(&meta, mapping, upper);
    free(mapping);
    free(run);
    free(file);
    free(names);
    free(upper);
    return 0;
}
