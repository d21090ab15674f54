/* The reader of bundles (the manifest of many images in one file) and of file names. */
#include <image/bundle.h>
#include <image/folder.h>

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* The footer is 72 bytes, its own sum the last 8; the index' sum is the fifth word. */
static void mend_sums(uint8_t *file, size_t size)
{
    uint64_t words[9];
    uint8_t *foot = file + size - sizeof words;
    memcpy(words, foot, sizeof words);
    memcpy(words, "MENDBUN", 8);
    words[1] = 1;
    words[3] %= (size - sizeof words) / sizeof(mend_bundle_entry) + 1;
    words[2] = size - sizeof words - words[3] * sizeof(mend_bundle_entry);
    words[4] = XXH3_64bits(file + words[2], words[3] * sizeof(mend_bundle_entry));
    words[5] = size;
    words[8] = XXH3_64bits(words, 64);
    memcpy(foot, words, sizeof words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mend_bundle_entry *entries = NULL;
    uint64_t count = 0, id = 0;
    int64_t version = 0;
    mend_file f;
    if (size < 1)
        return 0;
    uint8_t *file = calloc(1, size + 1);
    memcpy(file, data + 1, size - 1);
    if ((data[0] & 1) && size - 1 >= 72)
        mend_sums(file, size - 1);
    if (mend_bundle_open(mend_source_memory(file, size - 1), &entries, &count, &version, &id) ==
        0) {
        for (uint64_t i = 0; i < count; i++)
            if (entries[i].rank < 0 || entries[i].offset + entries[i].bytes > size)
                abort();
        free(entries);
    }
    file[size] = 0;
    if (mend_file_parse((char *)file, &f)) {
        char name[MEND_FILE_NAME_MAX];
        mend_file_name(&f, name);
        if (strcmp(name, (char *)file) != 0)
            abort();
    }
    free(file);
    return 0;
}
