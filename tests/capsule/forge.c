/* forge.c - an image that is whole but of another machine: forge IMAGE arch|version|page|cpu, in place. */
#include "image.h"

#include <base/io.h>
#include <mend/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int put(void *file, const void *bytes, size_t count)
{
    return fwrite(bytes, 1, count, file) == count ? 0 : MEND_ERR_IO;
}

int main(int argc, char **argv)
{
    mend_image *image;
    if (argc != 3 || mend_image_open_file(argv[1], &image))
        return 2;
    const mend_image_head *head = mend_image_info(image);
    uint8_t *stream = malloc(head->stream_bytes);
    if (!stream || mend_image_read(image, 0, stream, head->stream_bytes))
        return 2;
    struct image_meta m;
    memcpy(&m, stream, sizeof m);
    if (!strcmp(argv[2], "arch"))
        strcpy(m.arch, "m68k");
    else if (!strcmp(argv[2], "version"))
        m.border_version += 1000;
    else if (!strcmp(argv[2], "page"))
        m.page_size *= 16;
    else
        m.machine[0] = ~0ull;
    memcpy(stream, &m, sizeof m);
    FILE *f = fopen(argv[1], "r+");
    if (!f || mend_image_write(head, stream, NULL, (mend_sink){put, f}, NULL) || fclose(f))
        return 1;
    return 0;
}
