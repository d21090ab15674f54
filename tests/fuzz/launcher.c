/* Whatever comes on a control connection: frames, and the fields of every kind of message. */
#include "hosts.h"
#include "job.h"
#include "pmi/space.h"
#include "protocol.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void read_fields(uint32_t kind, struct wire_reader r)
{
    struct job job;
    struct wire_reader again = r;
    size_t length;
    if (kind == SAY_JOB && job_get(&again, &job)) {
        struct wire w = {0};
        job_put(&w, &job); /* what is accepted can be written */
        if (w.size != r.left || memcmp(w.bytes, r.at, w.size))
            abort();
        wire_free(&w);
        job_free(&job);
    }
    wire_get_u32(&r);
    wire_get_u32(&r);
    const unsigned char *bytes = wire_get_bytes(&r, &length);
    for (size_t i = 0; i < length; i++)
        if (bytes[i] > 255)
            abort();
    if (strlen(wire_get_text(&r)) > 1 << 20)
        abort();
    wire_free_list(wire_get_list(&r));
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct link l;
    struct wire_reader r;
    uint32_t kind;
    link_open(&l, 0, size > 0 && data[0] & 1 ? LINK_BEFORE_HELLO : LINK_LIMIT);
    wire_put_bare(&l.in, data, size);
    while (link_next(&l, &kind, &r) > 0)
        read_fields(kind % 32, r);
    l.fd = -1;
    link_close(&l);
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    struct hosts hosts = {0};
    if (hosts_add_list(&hosts, text))
        free(hosts_place(&hosts, 100));
    hosts_free(&hosts);
    char value[64]; /* a line of MPICH's ranks */
    for (int i = 0; i < 4; i++)
        if (pmi_field(text, (const char *[]){"cmd", "key", "value", "service"}[i], i == 2, value,
                      sizeof value) &&
            strlen(value) >= sizeof value)
            abort();
    free(text);
    return 0;
}
