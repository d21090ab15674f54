/* The launcher's messages, as they are written and read; hosts and places. */
#include "hosts.h"
#include "job.h"
#include "protocol.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static void fields_come_back(void **state)
{
    (void)state;
    struct wire w = {0};
    char *list[] = {"a", "", "b c", NULL};
    size_t size;
    wire_put_u32(&w, 0xfedcba98);
    wire_put_u64(&w, 0x0123456789abcdef);
    wire_put_bytes(&w, "x\0y", 3);
    wire_put_text(&w, "text");
    wire_put_list(&w, list);
    struct wire_reader r = {w.bytes, w.size, false};
    assert_int_equal(wire_get_u32(&r), 0xfedcba98);
    assert_true(wire_get_u64(&r) == 0x0123456789abcdef);
    assert_memory_equal(wire_get_bytes(&r, &size), "x\0y", 3);
    assert_int_equal(size, 3);
    assert_string_equal(wire_get_text(&r), "text");
    char **back = wire_get_list(&r);
    assert_non_null(back);
    assert_string_equal(back[2], "b c");
    assert_null(back[3]);
    assert_true(wire_ended(&r));
    wire_free_list(back);
    wire_free(&w);
}

static void cut_fields_are_bad(void **state)
{
    (void)state;
    struct job job = {0}, back;
    char *names[] = {"one", "two", NULL}, *program[] = {"p", "q", NULL},
         *environment[] = {"A=b", NULL};
    uint32_t node_of[] = {0, 1, 1};
    job.name = "n";
    job.folder = "/";
    job.ranks = 3;
    job.timeout_ms = 5000;
    job.node_names = names;
    job.node_of = node_of;
    job.program = program;
    job.environment = environment;
    struct wire w = {0};
    job_put(&w, &job);
    for (size_t size = 0; size < w.size; size++) { /* at every byte */
        struct wire_reader r = {w.bytes, size, false};
        assert_false(job_get(&r, &back));
    }
    struct wire_reader r = {w.bytes, w.size, false};
    assert_true(job_get(&r, &back));
    assert_int_equal(back.nodes, 2);
    assert_int_equal(back.node_of[2], 1);
    assert_string_equal(back.program[1], "q");
    job_add_node(&back, "three"); /* it comes later, with a process */
    job_add(&back, 2);
    assert_int_equal(back.ranks, 3);
    assert_int_equal(back.processes, 4);
    assert_string_equal(back.node_names[back.node_of[3]], "three");
    assert_null(back.node_names[back.nodes]);
    job_free(&back);
    wire_free(&w);
}

static void frames_come_whole(void **state)
{
    (void)state;
    int ends[2];
    struct link a, b;
    struct wire w = {0};
    struct wire_reader r;
    uint32_t kind;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    link_open(&a, ends[0], LINK_LIMIT);
    link_open(&b, ends[1], 64);
    wire_put_text(&w, "hello");
    link_send(&a, SAY_HELLO, &w);
    link_send(&a, SAY_END, NULL);
    assert_true(link_flush(&a));
    assert_true(link_receive(&b));
    assert_int_equal(link_next(&b, &kind, &r), 1);
    assert_int_equal(kind, SAY_HELLO);
    assert_string_equal(wire_get_text(&r), "hello");
    assert_int_equal(link_next(&b, &kind, &r), 1);
    assert_int_equal(kind, SAY_END);
    assert_int_equal(link_next(&b, &kind, &r), 0);
    char large[100] = "";
    wire_put_bare(&w, large, sizeof large);
    link_send(&a, SAY_HELLO, &w);
    assert_true(link_flush(&a));
    assert_true(link_receive(&b));
    assert_int_equal(link_next(&b, &kind, &r), -1); /* longer than allowed */
    link_close(&a);
    assert_false(link_receive(&b));
    link_close(&b);
    wire_free(&w);
}

static void done_bytes_go(void **state)
{
    (void)state;
    struct wire w = {0};
    size_t at = 0, written = 0, most = 0;
    for (int i = 0; i < 10000; i++) { /* the reader is always behind */
        wire_put_bare(&w, "0123456789", 10);
        at += i ? 10 : 3;
        written += i ? 10 : 3;
        assert_int_equal(w.bytes[at], '0' + written % 10);
        wire_drop(&w, &at);
        assert_int_equal(w.bytes[at], '0' + written % 10);
        most = w.room > most ? w.room : most;
    }
    assert_int_equal(w.size - at, 7);
    assert_true(most < 256);
    at = w.size;
    wire_drop(&w, &at);
    assert_int_equal(w.size, 0);
    assert_int_equal(at, 0);
    wire_free(&w);
    wire_drop(&w, &at); /* nothing was ever written */
    assert_null(w.bytes);
}

static void hosts_have_slots(void **state)
{
    (void)state;
    struct hosts h = {0}, bad = {0};
    assert_true(hosts_add_list(&h, "a:2,b,a,c:1"));
    assert_int_equal(h.count, 3);
    assert_int_equal(h.slots[0], 3);
    uint32_t *place = hosts_place(&h, 7);
    const uint32_t want[] = {0, 0, 0, 1, 2, 0, 1};
    assert_memory_equal(place, want, sizeof want);
    free(place);
    hosts_remove(&h, "a");
    assert_int_equal(h.count, 2);
    assert_string_equal(h.name[0], "b");
    assert_null(h.name[2]);
    assert_int_equal(hosts_append(&h, "b", 4), 2); /* it comes back, as another one */
    assert_int_equal(h.slots[0], 1);
    assert_string_equal(h.name[2], "b");
    assert_null(h.name[3]);
    static const char *const wrong[] = {"",    "a:0", "a:x", "a,,b", "-oProxyCommand=x",
                                        "a;b", "a b", "$(x)"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(hosts_add_list(&bad, wrong[i]));
    struct hosts much = {0};
    assert_true(hosts_add_list(&much, "a:65536,b,a:65536"));
    assert_int_equal(much.slots[0], HOSTS_SLOTS_MAX);
    hosts_free(&much);
    hosts_free(&h);
    hosts_free(&bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_come_back), cmocka_unit_test(cut_fields_are_bad),
        cmocka_unit_test(frames_come_whole), cmocka_unit_test(done_bytes_go),
        cmocka_unit_test(hosts_have_slots)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
