/* Pinned folders: checked once, then reached by descriptor.
 *
 * Every call looks up a path anew, and whoever may write to a folder on the way can put something else there between
 * two calls. So we open and check a store's folder once. While it is pinned, every call of base/io.h for a file
 * directly in it uses its descriptor. The list belongs to the process: files are named by path everywhere, and a
 * folder has one owner. */
#include <base/fail.h>
#include <base/io.h>

#include "io_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct pin {
    char *path;
    size_t length;
    int fd, uses;
    dev_t device;
    ino_t inode;
    struct pin *next;
};

static struct {
    pthread_mutex_t lock; /* guards the list */
    struct pin *list;
} pins = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_same(const struct pin *pin, int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_dev == pin->device && st.st_ino == pin->inode;
}

static struct pin *find(const char *path, size_t length)
{
    struct pin *pin = pins.list;
    while (pin && (pin->length != length || strncmp(pin->path, path, length) != 0))
        pin = pin->next;
    return pin;
}

/* A program may have closed our descriptor along with its own, or put another in its place. */
static int descriptor(struct pin *pin)
{
    int fd = -1;
    if (is_same(pin, pin->fd))
        return pin->fd;
    if (mend_io_open_folder_at(AT_FDCWD, pin->path, pin->path, &fd) || fd < 0 ||
        !is_same(pin, fd)) {
        if (fd >= 0)
            close(fd);
        errno = ESTALE;
        return -1;
    }
    pin->fd = fd; /* the old number belongs to somebody else now */
    return fd;
}

int mend_io_at(const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    int fd = AT_FDCWD;

    *name = path;
    if (!slash)
        return fd;
    pthread_mutex_lock(&pins.lock);
    struct pin *pin = find(path, (size_t)(slash - path));
    if (pin) {
        fd = descriptor(pin);
        *name = slash + 1;
    }
    pthread_mutex_unlock(&pins.lock);
    return fd;
}

int mend_io_at_folder(const char *path, const char **name)
{
    int fd = AT_FDCWD;

    *name = path;
    pthread_mutex_lock(&pins.lock);
    struct pin *pin = find(path, strlen(path));
    if (pin) {
        fd = descriptor(pin);
        *name = ".";
    }
    pthread_mutex_unlock(&pins.lock);
    return fd;
}

static struct pin *add(const char *path)
{
    struct pin *pin = calloc(1, sizeof *pin);
    if (!pin || !(pin->path = strdup(path))) {
        free(pin);
        return NULL;
    }
    pin->length = strlen(path);
    pin->fd = -1;
    pin->next = pins.list;
    pins.list = pin;
    return pin;
}

int mend_io_pin(const char *path)
{
    struct stat st;
    int fd = -1, code = mend_io_open_folder_at(AT_FDCWD, path, path, &fd);

    if (code == MEND_OK && (fd < 0 || fstat(fd, &st)))
        code = mend_fail(MEND_ERR_NOT_FOUND, "the folder %s does not exist", path);
    if (code) {
        if (fd >= 0)
            close(fd);
        return code;
    }
    pthread_mutex_lock(&pins.lock);
    struct pin *pin = find(path, strlen(path));
    if (!pin && !(pin = add(path))) {
        pthread_mutex_unlock(&pins.lock);
        close(fd);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the folder %s", path);
    }
    if (pin->fd >= 0 && is_same(pin, pin->fd))
        close(pin->fd);
    *pin = (struct pin){pin->path, pin->length, fd, pin->uses + 1, st.st_dev, st.st_ino, pin->next};
    pthread_mutex_unlock(&pins.lock);
    return MEND_OK;
}

void mend_io_unpin(const char *path)
{
    pthread_mutex_lock(&pins.lock);
    struct pin **link = &pins.list;
    while (*link && strcmp((*link)->path, path) != 0)
        link = &(*link)->next;
    struct pin *pin = *link;
    if (pin && --pin->uses == 0) {
        *link = pin->next;
        if (is_same(pin, pin->fd))
            close(pin->fd);
        free(pin->path);
        free(pin);
    }
    pthread_mutex_unlock(&pins.lock);
}
