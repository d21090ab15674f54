/* tool.c - the tools interface (MPI_T) across a restart: start it in the new library; old handles become invalid. */
#include "core/core.h"

void rebind_tool(void)
{
    int provided;
    core.tool_generation = (core.tool_generation + 1) & 0x7fff;
    for (int i = 0; i < core.tool_started; i++)
        LOWER(tool, TOOL_init_thread, (long[]){0, (long)&provided});
}
