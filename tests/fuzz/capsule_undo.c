/* A log of changes of files: any bytes are indexed within bounds, and every record that is found is whole. (Nothing is
 * undone here: a log may name any file.) */
#include "../../src/capsule/lower/undo/stored.c"

struct undo_log undo_log;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct log log = {.size = size, .bytes = malloc(size + 1)};
    memcpy(log.bytes, data, size);
    index_log(&log);
    for (int k = 0; k < log.count; k++) {
        struct undo_record r;
        memcpy(&r, log.bytes + log.record[k], sizeof r);
        const char *path = log.bytes + log.record[k] + sizeof r;
        size_t n = strlen(path);
        if (r.kind == UNDO_MOVED)
            n += strlen(path + r.path_bytes);
        if (n > size)
            abort();
    }
    free(log.record);
    free(log.bytes);
    return 0;
}
