/* terminal TEXT COMMAND…: run COMMAND with a terminal of its own for standard input, output and error, type TEXT there,
 * and the end of input (Ctrl-D) after it, and print what the terminal shows. "-" for TEXT: type nothing at all. Ends with
 * the command's code. */
#define _GNU_SOURCE
#include <poll.h>
#include <pty.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static void type(int fd, const char *text)
{
    (void)!write(fd, text, strlen(text));
}

int main(int argc, char **argv)
{
    int fd, status;
    char bytes[4096];
    if (argc < 3)
        return 2;
    pid_t pid = forkpty(&fd, NULL, NULL, NULL);
    if (pid < 0)
        return 77;
    if (pid == 0) {
        struct termios t;
        tcgetattr(0, &t);
        t.c_lflag &= ~(tcflag_t)ECHO;
        t.c_oflag &= ~(tcflag_t)OPOST;
        tcsetattr(0, TCSANOW, &t);
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    usleep(200000); /* the settings above */
    if (strcmp(argv[1], "-") != 0) {
        type(fd, argv[1]);
        type(fd, "\004");
    }
    for (;;) {
        struct pollfd p = {fd, POLLIN, 0};
        ssize_t n = poll(&p, 1, 100) == 1 ? read(fd, bytes, sizeof bytes) : 1;
        if (n <= 0)
            break;
        if (p.revents & POLLIN)
            (void)!write(1, bytes, (size_t)n);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
