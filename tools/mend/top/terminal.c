/* The terminal: the alternate screen, single keys, signals read as data. Whatever ends the command, except SIGKILL, the
 * terminal is as it was before. */
#include "top.h"

#include <base/fail.h>
#include <mend/error.h>

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int taken[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH};

static void say(const char *text)
{
    (void)!write(STDOUT_FILENO, text, strlen(text));
}

/* Switch to the alternate screen without a cursor, and back. */
static void enter(struct top_terminal *terminal)
{
    struct termios keys = terminal->before;
    keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    if (terminal->keys)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
    say("\033[?1049h\033[?25l\033[2J");
}

static void leave(const struct top_terminal *terminal)
{
    say("\033[0m\033[?25h\033[?1049l");
    if (terminal->keys)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal->before);
}

static sigset_t signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        sigaddset(&set, taken[i]);
    return set;
}

int top_terminal_open(struct top_terminal *terminal)
{
    sigset_t set = signals();
    memset(terminal, 0, sizeof *terminal);
    terminal->keys = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &terminal->before) == 0;
    terminal->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (terminal->signals < 0)
        return mend_fail_errno("cannot wait for signals");
    sigprocmask(SIG_BLOCK, &set, NULL);
    enter(terminal);
    return MEND_OK;
}

void top_terminal_close(struct top_terminal *terminal)
{
    sigset_t set = signals();
    leave(terminal);
    close(terminal->signals);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static enum top_word heard(struct top_terminal *terminal)
{
    struct signalfd_siginfo info;
    if (read(terminal->signals, &info, sizeof info) != sizeof info)
        return TOP_GO_ON;
    switch (info.ssi_signo) {
    case SIGWINCH: say("\033[2J"); return TOP_GO_ON;
    case SIGTSTP:
        leave(terminal);
        raise(SIGSTOP);
        enter(terminal); /* continued */
        return TOP_GO_ON;
    case SIGINT: return TOP_QUIT;
    default: terminal->signal = (int)info.ssi_signo; return TOP_KILLED;
    }
}

enum top_word top_terminal_wait(struct top_terminal *terminal, double seconds)
{
    struct pollfd what[] = {{.fd = terminal->signals, .events = POLLIN},
                            {.fd = terminal->keys ? STDIN_FILENO : -1, .events = POLLIN}};
    char keys[64];
    if (poll(what, 2, (int)(1e3 * seconds)) <= 0)
        return TOP_GO_ON;
    if (what[0].revents)
        return heard(terminal);
    ssize_t n = read(STDIN_FILENO, keys, sizeof keys);
    if (n <= 0) /* the terminal is gone */
        return TOP_QUIT;
    return memchr(keys, 'q', (size_t)n) || memchr(keys, 'Q', (size_t)n) ||
                   memchr(keys, 3, (size_t)n)
               ? TOP_QUIT
               : TOP_GO_ON;
}

void top_terminal_size(int *rows, int *columns)
{
    struct winsize size;
    *rows = 24;
    *columns = 80;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0) {
        *rows = size.ws_row;
        *columns = size.ws_col;
    }
    if (*columns > 1)
        --*columns; /* some terminals erase the last column */
}
