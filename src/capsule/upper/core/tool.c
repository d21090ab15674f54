/* tool.c - the tools interface (MPI_T) across a restart: the new library is told to start it, old handles are void. */
#include "core/core.h"

int tool_started, tool_generation;

void rebind_tool(void)
{
    int provided;
    tool_generation = (tool_generation + 1) & 0x7fff;
    for (int i = 0; i < tool_started; i++)
        LOWER(tool, TOOL_init_thread, (long[]){0, (long)&provided});
}
