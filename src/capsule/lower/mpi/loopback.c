/* mpi/loopback.c - a job on one machine does not listen on the network.
 *
 * A new process (online/join.c) and the others exchange messages by TCP. Open MPI connects only by the interfaces of
 * btl_tcp_if_include, but it listens on all, even if that one is the loopback. So we replace bind(): where the loopback
 * is all that Open MPI may use, a socket for any address becomes one for the loopback.
 */
#include <mpi.h>

#ifdef OPEN_MPI
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_on_one_machine(void)
{
    const char *only = getenv("OMPI_MCA_btl_tcp_if_include");
    return only && strcmp(only, "lo") == 0;
}

__attribute__((visibility("default"))) int bind(int fd, const struct sockaddr *address,
                                                socklen_t size)
{
    struct sockaddr_storage own = {0};
    struct sockaddr_in *four = (struct sockaddr_in *)&own;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&own;
    if (size > sizeof own || !is_on_one_machine())
        return (int)syscall(SYS_bind, fd, address, size);
    memcpy(&own, address, size);
    if (own.ss_family == AF_INET && four->sin_addr.s_addr == htonl(INADDR_ANY))
        four->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else if (own.ss_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr))
        six->sin6_addr = in6addr_loopback;
    int rc = (int)syscall(SYS_bind, fd, &own, size);
    if (rc && own.ss_family == AF_INET6 && errno == EADDRNOTAVAIL)
        errno = EAFNOSUPPORT; /* a loopback without IPv6: the library does without it, too */
    return rc;
}
#endif
