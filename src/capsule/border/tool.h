/* border/tool.h - the tools interface (MPI_T) across the border: one function, tool(which, arguments), because it is never
 * on a fast path. Arguments and results are the call's 64-bit words, including pointers. Constants are neutral
 * (table/tool.def). A datatype is the index of a predefined one, or -1.
 */
#ifndef CAPSULE_BORDER_TOOL_H
#define CAPSULE_BORDER_TOOL_H
enum tool_constant {
    TOOL_NONE,
#define TOOL_CONSTANT(group, name) TOOL_##name,
#include "table/tool.def"
#undef TOOL_CONSTANT
};
enum tool_function {
    TOOL_init_thread,
    TOOL_finalize,
    TOOL_cvar_get_num,
    TOOL_cvar_get_info,
    TOOL_cvar_get_index,
    TOOL_cvar_handle_alloc,
    TOOL_cvar_handle_free,
    TOOL_cvar_read,
    TOOL_cvar_write,
    TOOL_category_get_num,
    TOOL_category_get_info,
    TOOL_category_get_index,
    TOOL_category_get_cvars,
    TOOL_category_get_pvars,
    TOOL_category_get_categories,
    TOOL_category_changed,
    TOOL_pvar_get_num,
    TOOL_pvar_get_info,
    TOOL_pvar_get_index,
    TOOL_pvar_session_create,
    TOOL_pvar_session_free,
    TOOL_pvar_handle_alloc,
    TOOL_pvar_handle_free,
    TOOL_pvar_start,
    TOOL_pvar_stop,
    TOOL_pvar_read,
    TOOL_pvar_write,
    TOOL_pvar_reset,
    TOOL_pvar_readreset,
    TOOL_enum_get_info,
    TOOL_enum_get_item
};
#define TOOL_ALL_HANDLES (-1L)
#endif
