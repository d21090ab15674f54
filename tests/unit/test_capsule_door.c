/* The coordinator's door: ranks come in, whatever strangers do there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "round/door.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 3, COOKIE = 4711, CROWD = 200 };

static struct door door = {.listener = -1};
static char name[DOOR_NAME];
static uint32_t address[DOOR_ADDRESSES], addresses, port;
static int in[RANKS];

static int take(int rank, int fd)
{
    if (in[rank] >= 0)
        return 0;
    in[rank] = fd;
    return 1;
}

static void begin(bool here)
{
    for (int r = 0; r < RANKS; r++)
        in[r] = -1;
    int rc = here ? door_open_here(&door, RANKS, COOKIE, name)
                  : door_open_outside(&door, RANKS, COOKIE, "lo", address, &addresses, &port);
    assert_int_equal(rc, 0);
}

static void end(void)
{
    door_close(&door);
    for (int r = 0; r < RANKS; r++)
        if (in[r] >= 0)
            close(in[r]);
}

static int knock(void)
{
    if (door.local)
        return door_connect_here(name);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = address[0];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* The coordinator's turns, until nothing moves. Says how many there were. */
static int turns(void)
{
    static struct pollfd list[1 + RANKS + DOOR_SLOTS];
    int n = 0;
    while (poll(list, (nfds_t)door_list(&door, list), 2) > 0 && n++ < 10000)
        door_answer(&door, list, take);
    return n;
}

static void hello(int fd, uint64_t cookie, uint64_t rank)
{
    struct control_head head = {CONTROL_HELLO, 0, 16};
    uint64_t words[2] = {cookie, rank};
    assert_int_equal(send(fd, &head, sizeof head, MSG_NOSIGNAL), sizeof head);
    assert_int_equal(send(fd, words, sizeof words, MSG_NOSIGNAL), sizeof words);
}

static bool is_closed(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN);
}

/* All ranks come, and what they say afterwards is waited for as ever. */
static void all_come(void)
{
    int fd[RANKS];
    for (int r = 0; r < RANKS; r++) {
        fd[r] = knock();
        hello(fd[r], COOKIE, (uint64_t)r);
        turns();
        assert_true(in[r] >= 0);
        struct control_head head = {CONTROL_BYE, 0, 0}, got;
        assert_int_equal(send(fd[r], &head, sizeof head, 0), sizeof head);
        assert_int_equal(recv(in[r], &got, sizeof got, 0), sizeof got);
        assert_int_equal(got.type, CONTROL_BYE);
        close(fd[r]);
    }
}

static void test_strangers(bool here)
{
    begin(here);
    int dribbler = knock(), liar = knock(), loud = knock(), nobody = knock(), crowd[CROWD];
    char noise[4096];
    memset(noise, 0xa5, sizeof noise);
    turns();
    for (int i = 0; i < CROWD; i++) { /* more than there are slots: they never say a word */
        crowd[i] = knock();
        turns();
    }
    assert_true(door.count <= door.slots);
    dribbler = knock();
    for (int i = 0; i < DOOR_HELLO / 2;
         i++) { /* a hello, byte by byte: nobody waits for the rest */
        struct control_head head = {CONTROL_HELLO, 0, 16};
        assert_int_equal(send(dribbler, (char *)&head + i % sizeof head, 1, MSG_NOSIGNAL), 1);
        assert_true(turns() < 100);
    }
    liar = knock();
    hello(liar, COOKIE + 1, 0);
    turns();
    assert_true(is_closed(liar));
    loud = knock();
    (void)!send(loud, noise, sizeof noise, MSG_NOSIGNAL);
    turns();
    assert_true(is_closed(loud));
    int large = knock(); /* a gigabyte is announced: nothing is set aside for it */
    struct control_head huge = {CONTROL_HELLO, 0, 1 << 30};
    (void)!send(large, &huge, sizeof huge, MSG_NOSIGNAL);
    turns();
    assert_true(is_closed(large));
    int stranger = knock();
    hello(stranger, COOKIE, RANKS);
    turns();
    assert_true(is_closed(stranger));
    all_come();
    int twice = knock();
    hello(twice, COOKIE, 1);
    turns();
    assert_true(is_closed(twice));
    for (int i = 0; i < CROWD; i++)
        close(crowd[i]);
    close(nobody);
    end();
}

static void test_here(void **state)
{
    (void)state;
    test_strangers(true);
}

static void test_outside(void **state)
{
    (void)state;
    test_strangers(false);
}

static void test_time_is_limited(void **state)
{
    (void)state;
    static struct pollfd list[1 + RANKS + DOOR_SLOTS];
    begin(true);
    door.seconds = 0;
    int fd = knock();
    poll(list, (nfds_t)door_list(&door, list), 1000);
    door_answer(&door, list, take);
    usleep(2000);
    poll(list, (nfds_t)door_list(&door, list), 0);
    door_answer(&door, list, take);
    assert_int_equal(door.count, 0);
    assert_true(is_closed(fd));
    end();
}

/* Another user is not even listened to. */
static void test_another_user(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    begin(true);
    pid_t pid = fork();
    if (pid == 0) {
        if (setresuid(65534, 65534, 65534))
            _exit(2);
        int fd = door_connect_here(name);
        struct control_head head = {CONTROL_HELLO, 0, 16};
        uint64_t words[2] = {COOKIE, 0};
        char byte;
        (void)!send(fd, &head, sizeof head, MSG_NOSIGNAL);
        (void)!send(fd, words, sizeof words, MSG_NOSIGNAL);
        _exit(recv(fd, &byte, 1, 0) > 0);
    }
    int status = -1;
    while (waitpid(pid, &status, WNOHANG) == 0)
        turns();
    assert_int_equal(status, 0);
    assert_int_equal(in[0], -1);
    assert_int_equal(door.count, 0);
    all_come();
    end();
}

static void test_no_such_interface(void **state)
{
    (void)state;
    assert_int_equal(
        door_open_outside(&door, RANKS, COOKIE, "nothing0", address, &addresses, &port), -1);
    assert_int_equal(door.listener, -1);
    assert_true(door_place() == door_place());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_here),
        cmocka_unit_test(test_outside),
        cmocka_unit_test(test_time_is_limited),
        cmocka_unit_test(test_another_user),
        cmocka_unit_test(test_no_such_interface),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
