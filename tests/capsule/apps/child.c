/* child.c - what a rank starts, linked statically: it has memory, a thread and standard streams of its own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *copy(void *line)
{
    return strdup(line);
}

int main(int argc, char **argv)
{
    char line[64];
    void *copied = NULL;
    pthread_t t;
    if (argc < 2 || !fgets(line, sizeof line, stdin) || pthread_create(&t, NULL, copy, line) ||
        pthread_join(t, &copied) || !copied)
        return 1;
    printf("%s %s", argv[1], (char *)copied);
    free(copied);
    return 6;
}
