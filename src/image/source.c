#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/fail.h>
#include <base/io.h>
#include <image/image.h>

struct file_source {
    int fd;
    uint64_t offset;
    char path[];
};

static int file_read(void *context, uint64_t at, void *to, size_t count)
{
    struct file_source *f = context;
    return mend_io_pread(f->fd, to, count, (off_t)(f->offset + at), f->path);
}

static void file_close(void *context)
{
    struct file_source *f = context;
    close(f->fd);
    free(f);
}

int mend_source_file(const char *path, uint64_t offset, uint64_t bytes, mend_source *source)
{
    struct stat st;
    int fd = mend_io_open_read(path);
    if (fd < 0)
        return fd;
    struct file_source *f = malloc(sizeof *f + strlen(path) + 1);
    int rc = 0;
    if (!f)
        rc = mend_fail(MEND_ERR_NO_MEMORY, "no memory to open %s", path);
    else if (fstat(fd, &st) != 0)
        rc = mend_fail_errno("cannot stat %s", path);
    else if (offset > (uint64_t)st.st_size ||
             (bytes != UINT64_MAX && bytes > (uint64_t)st.st_size - offset))
        rc = mend_fail(MEND_ERR_TRUNCATED, "%s ends at %lld", path, (long long)st.st_size);
    if (rc) {
        close(fd);
        free(f);
        return rc;
    }
    f->fd = fd;
    f->offset = offset;
    strcpy(f->path, path);
    *source = (mend_source){
        .read = file_read,
        .close = file_close,
        .context = f,
        .bytes = bytes == UINT64_MAX ? (uint64_t)st.st_size - offset : bytes,
    };
    return 0;
}

int mend_image_open_file(const char *path, mend_image **image)
{
    mend_source source;
    int rc = mend_source_file(path, 0, UINT64_MAX, &source);
    if (rc == 0)
        rc = mend_image_open(source, image);
    return rc ? mend_fail_within(rc, "%s", path) : 0;
}

static int memory_read(void *context, uint64_t at, void *to, size_t count)
{
    memcpy(to, (const uint8_t *)context + at, count);
    return 0;
}

mend_source mend_source_memory(const void *bytes, uint64_t count)
{
    return (mend_source){.read = memory_read, .context = (void *)bytes, .bytes = count};
}
