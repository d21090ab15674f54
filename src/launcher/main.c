/* mend-node: the launcher of `mend run`. `mend run` starts `mend-node head …` once for each launch, and the head
 * starts `mend-node daemon` once on each machine. */
#include "head/head.h"
#include "node.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "head") == 0)
        return head_main(argc - 2, argv + 2);
    if (argc > 1 && strcmp(argv[1], "daemon") == 0)
        return node_connect_and_serve();
    fputs("mend-node is a part of mend run; you cannot start it by hand\n", stderr);
    return 2;
}
