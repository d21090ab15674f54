#include <base/event.h>
#include <base/fail.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_SIZE = 4096 };

bool mend_event_active;

/* The process's one event stream. */
static struct {
    pthread_mutex_t lock;
    int fd;
    int rank;
    mend_event_callback *callback;
    void *user;
    long lost;
    bool torn; /* the disk was full, and holds only a part of the last line */
} stream = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1, .rank = -1};

static void update_active(void)
{
    mend_event_active = stream.fd >= 0 || stream.callback;
}

int mend_event_open(const char *path)
{
    int fd = -1;
    if (path) {
        fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
            return mend_fail_errno("cannot open the event file %s", path);
    }
    pthread_mutex_lock(&stream.lock);
    if (stream.fd >= 0)
        close(stream.fd);
    stream.fd = fd;
    update_active();
    pthread_mutex_unlock(&stream.lock);
    return MEND_OK;
}

void mend_event_set_callback(mend_event_callback *callback, void *user)
{
    pthread_mutex_lock(&stream.lock);
    stream.callback = callback;
    stream.user = user;
    update_active();
    pthread_mutex_unlock(&stream.lock);
}

void mend_event_set_rank(int rank)
{
    stream.rank = rank;
}

int mend_event_rank(void)
{
    return stream.rank;
}

long mend_event_lost(void)
{
    return stream.lost;
}

/* A line under construction. We drop a line that is too long, rather than cut it. */
struct line {
    char text[LINE_SIZE];
    size_t used;
};

static void put(struct line *line, char c)
{
    if (line->used < LINE_SIZE)
        line->text[line->used] = c;
    line->used++;
}

static void put_raw(struct line *line, const char *s)
{
    while (*s)
        put(line, *s++);
}

/* Bytes of the character at `s`; 0: it is not UTF-8. */
static int character(const unsigned char *s)
{
    int n = s[0] < 0x80                    ? 1
            : s[0] >= 0xc2 && s[0] <= 0xdf ? 2
            : s[0] >= 0xe0 && s[0] <= 0xef ? 3
            : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                           : 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool invalid = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
                   (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90);
    return invalid ? 0 : n;
}

/* A path may be any bytes, but a line that is not UTF-8 is not JSON, and its readers would drop it. */
static void put_string(struct line *line, const char *s)
{
    put(line, '"');
    for (int n; s && *s; s += n ? n : 1) {
        unsigned char c = (unsigned char)*s;
        n = character((const unsigned char *)s);
        if (n == 0)
            put_raw(line, "\\ufffd");
        for (int i = 0; n > 1 && i < n; i++)
            put(line, s[i]);
        if (n != 1)
            continue;
        if (c == '"' || c == '\\') {
            put(line, '\\');
            put(line, (char)c);
        } else if (c < 0x20) {
            char escaped[8];
            snprintf(escaped, sizeof escaped, "\\u%04x", c);
            put_raw(line, escaped);
        } else {
            put(line, (char)c);
        }
    }
    put(line, '"');
}

static void put_field(struct line *line, const mend_event_field *field)
{
    char number[64];
    put(line, ',');
    put_string(line, field->key);
    put(line, ':');
    switch (field->kind) {
    case MEND_FIELD_INT:
        snprintf(number, sizeof number, "%lld", field->integer);
        put_raw(line, number);
        break;
    case MEND_FIELD_REAL:
        snprintf(number, sizeof number, "%.9g", field->real);
        put_raw(line, isfinite(field->real) ? number : "null");
        break;
    case MEND_FIELD_STRING: put_string(line, field->string); break;
    default: put_raw(line, "null"); /* from a later version */
    }
}

static void deliver(struct line *line)
{
    if (line->used + 2 > LINE_SIZE) {
        stream.lost++;
        return;
    }
    line->text[line->used] = '\n';
    if (stream.fd >= 0) {
        ssize_t n = 1;
        if (stream.torn) /* otherwise the next line would be lost with it */
            n = write(stream.fd, "\n", 1);
        stream.torn = n < 1;
        if (!stream.torn)
            do {
                n = write(stream.fd, line->text, line->used + 1);
            } while (n < 0 && errno == EINTR);
        stream.torn |= n > 0 && n != (ssize_t)line->used + 1;
        if (n != (ssize_t)line->used + 1)
            stream.lost++;
    }
    line->text[line->used] = 0;
    if (stream.callback)
        stream.callback(line->text, stream.user);
}

void mend_event_emit(const char *name, const mend_event_field *fields, int count)
{
    int saved_errno = errno;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct line line = {.used = 0};
    char head[96];
    snprintf(head, sizeof head,
             "{\"mend\":1,\"t\":%lld.%06ld,\"rank\":%d,\"event\":", (long long)now.tv_sec,
             now.tv_nsec / 1000, stream.rank);
    put_raw(&line, head);
    put_string(&line, name);
    for (int i = 0; i < count; i++)
        put_field(&line, &fields[i]);
    put(&line, '}');
    pthread_mutex_lock(&stream.lock);
    deliver(&line);
    pthread_mutex_unlock(&stream.lock);
    errno = saved_errno;
}

double mend_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
