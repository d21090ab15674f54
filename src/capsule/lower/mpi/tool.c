/* tool.c - the tools interface (MPI_T) of the real library, see border/tool.h. */
#include "online/online.h"
#include <mpi.h>
#include <stddef.h>
#include "mpi/services.h"

/* this library's constant of a group to the neutral one, and back */
static int neutral(const char *group, int value)
{
    (void)group;
#define TOOL_CONSTANT(g, name)                \
    if (group[0] == #g[0] && value == (name)) \
        return TOOL_##name;
#include "table/tool.def"
#undef TOOL_CONSTANT
    return TOOL_NONE;
}
static int own_class(int class)
{
    switch (class) {
#define TOOL_CONSTANT(g, name) \
    case TOOL_##name: return (int)(name);
#include "table/tool.def"
#undef TOOL_CONSTANT
    }
    return class;
}
static void convert(const char *group, long where)
{
    if (where)
        *(int *)where = neutral(group, *(int *)where);
}
static long type_place(MPI_Datatype t)
{
    for (int i = 0; i < N_PREDEFINED; i++)
        if (lower.predef[i] == (handle_t)t && i >= PRE_MPI_DATATYPE_NULL)
            return i;
    return -1;
}
#define I(k)       ((int)a[k])
#define P(k)       ((void *)a[k])
#define CVAR(k)    ((MPI_T_cvar_handle)a[k])
#define PVAR(k)    (a[k] == TOOL_ALL_HANDLES ? MPI_T_PVAR_ALL_HANDLES : (MPI_T_pvar_handle)a[k])
#define SESSION(k) ((MPI_T_pvar_session)a[k])

static int call(int function, long *a)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum names = MPI_T_ENUM_NULL;
    MPI_T_cvar_handle cvar;
    MPI_T_pvar_handle pvar;
    MPI_T_pvar_session session;
    int rc;
    switch (function) {
    case TOOL_init_thread: return MPI_T_init_thread(I(0), P(1));
    case TOOL_finalize: return MPI_T_finalize();
    case TOOL_cvar_get_num: return MPI_T_cvar_get_num(P(0));
    case TOOL_cvar_get_info:
        rc = MPI_T_cvar_get_info(I(0), P(1), P(2), P(3), &type, &names, P(6), P(7), P(8), P(9));
        if (rc)
            return rc;
        convert("VERBOSITY", a[3]);
        convert("BIND", a[8]);
        convert("SCOPE", a[9]);
        a[4] = type_place(type);
        a[5] = (long)names;
        return 0;
    case TOOL_cvar_get_index: return MPI_T_cvar_get_index(P(0), P(1));
    case TOOL_cvar_handle_alloc:
        rc = MPI_T_cvar_handle_alloc(I(0), NULL, &cvar, P(3));
        a[2] = (long)cvar;
        return rc;
    case TOOL_cvar_handle_free: cvar = CVAR(0); return MPI_T_cvar_handle_free(&cvar);
    case TOOL_cvar_read: return MPI_T_cvar_read(CVAR(0), P(1));
    case TOOL_cvar_write: return MPI_T_cvar_write(CVAR(0), P(1));
    case TOOL_category_get_num: return MPI_T_category_get_num(P(0));
    case TOOL_category_get_info:
        return MPI_T_category_get_info(I(0), P(1), P(2), P(3), P(4), P(5), P(6), P(7));
    case TOOL_category_get_index: return MPI_T_category_get_index(P(0), P(1));
    case TOOL_category_get_cvars: return MPI_T_category_get_cvars(I(0), I(1), P(2));
    case TOOL_category_get_pvars: return MPI_T_category_get_pvars(I(0), I(1), P(2));
    case TOOL_category_get_categories: return MPI_T_category_get_categories(I(0), I(1), P(2));
    case TOOL_category_changed: return MPI_T_category_changed(P(0));
    case TOOL_pvar_get_num: return MPI_T_pvar_get_num(P(0));
    case TOOL_pvar_get_info:
        rc = MPI_T_pvar_get_info(I(0), P(1), P(2), P(3), P(4), &type, &names, P(7), P(8), P(9),
                                 P(10), P(11), P(12));
        if (rc)
            return rc;
        convert("VERBOSITY", a[3]);
        convert("PVAR_CLASS", a[4]);
        convert("BIND", a[9]);
        a[5] = type_place(type);
        a[6] = (long)names;
        return 0;
    case TOOL_pvar_get_index: return MPI_T_pvar_get_index(P(0), own_class(I(1)), P(2));
    case TOOL_pvar_session_create:
        rc = MPI_T_pvar_session_create(&session);
        a[0] = (long)session;
        return rc;
    case TOOL_pvar_session_free: session = SESSION(0); return MPI_T_pvar_session_free(&session);
    case TOOL_pvar_handle_alloc:
        rc = MPI_T_pvar_handle_alloc(SESSION(0), I(1), NULL, &pvar, P(4));
        a[3] = (long)pvar;
        return rc;
    case TOOL_pvar_handle_free: pvar = PVAR(1); return MPI_T_pvar_handle_free(SESSION(0), &pvar);
    case TOOL_pvar_start: return MPI_T_pvar_start(SESSION(0), PVAR(1));
    case TOOL_pvar_stop: return MPI_T_pvar_stop(SESSION(0), PVAR(1));
    case TOOL_pvar_read: return MPI_T_pvar_read(SESSION(0), PVAR(1), P(2));
    case TOOL_pvar_write: return MPI_T_pvar_write(SESSION(0), PVAR(1), P(2));
    case TOOL_pvar_reset: return MPI_T_pvar_reset(SESSION(0), PVAR(1));
    case TOOL_pvar_readreset: return MPI_T_pvar_readreset(SESSION(0), PVAR(1), P(2));
    case TOOL_enum_get_info: return MPI_T_enum_get_info((MPI_T_enum)a[0], P(1), P(2), P(3));
    case TOOL_enum_get_item: return MPI_T_enum_get_item((MPI_T_enum)a[0], I(1), P(2), P(3), P(4));
    }
    return MPI_T_ERR_INVALID_INDEX;
}
int lower_tool(int function, long *a)
{
    int rc = call(function, a);
    if (!rc)
        return 0;
    int n = neutral("ERR", rc);
    return n ? n : TOOL_MPI_T_ERR_INVALID;
}
