/* faces/tool.h - a C face: the tools interface (MPI_T). It shows the current library below: handles from before a restart are
 * invalid, and a tool has to query again. Variables bound to an MPI object are not available. faces/c.h includes this (through
 * c_by_hand.h).
 */
static int tool_out(int neutral)
{
    switch (neutral) {
#define TOOL_CONSTANT(group, name) \
    case TOOL_##name: return (int)(name);
#include "table/tool.def"
#undef TOOL_CONSTANT
    }
    return 0;
}
static int tool_class_in(int class)
{
    static const int of[][2] = {
#define IF_PVAR_CLASS(name) {(int)(name), TOOL_##name},
#define IF_VERBOSITY(name)
#define IF_BIND(name)
#define IF_SCOPE(name)
#define IF_ERR(name)
#define TOOL_CONSTANT(group, name) IF_##group(name)
#include "table/tool.def"
#undef TOOL_CONSTANT
    };
    for (unsigned i = 0; i < sizeof of / sizeof *of; i++)
        if (of[i][0] == class)
            return of[i][1];
    return -1;
}
#define W(x) ((long)(x))
static MPI_Datatype tool_type(long place)
{
    return place < 0 ? MPI_DATATYPE_NULL : OUT_TYPE(predef[place]);
}
static void tool_convert(int *x)
{
    if (x)
        *x = tool_out(*x);
}
/* A handle is the lower half's address combined with the number of restarts before its creation. */
static void *tool_stamp(long h)
{
    return h ? (void *)(h ^ ((long)core.tool_generation << 48)) : NULL;
}
static int tool_read(const void *handle, long *h)
{
    if (handle == (void *)MPI_T_PVAR_ALL_HANDLES) {
        *h = TOOL_ALL_HANDLES;
        return 1;
    }
    *h = W(handle) ^ ((long)core.tool_generation << 48);
    return handle && !((unsigned long)*h >> 48);
}
/* A checkpoint may stop a call where INSIDE begins, and the process that resumes has another library. So handles are read
 * after that, and stamped before INSIDE ends. `session`, `handle`, `made`: the places of these among the words; NONE_OF_IT:
 * there is none. `gone`: what the call returns if its handle is of another library. */
enum { NONE_OF_IT = -1, TOOL_IS_GONE = -1 /* success, for tool_out() */ };
static int tool_below(int function, long *a, int session, int handle, int gone, int made)
{
    if (session >= 0 && !tool_read((void *)a[session], &a[session]))
        return gone == TOOL_IS_GONE ? gone : TOOL_MPI_T_ERR_INVALID_SESSION;
    if (handle >= 0 && !tool_read((void *)a[handle], &a[handle]))
        return gone;
    int rc = LOWER(tool, function, a);
    if (made >= 0)
        a[made] = rc ? 0 : W(tool_stamp(a[made]));
    return rc;
}
#define TOOL_CALL(function, session, handle, gone, made, ...) \
    long a[] = {__VA_ARGS__};                                 \
    int rc = tool_out(INSIDE(tool_below(TOOL_##function, a, session, handle, gone, made)));
#define TOOL(function, ...) TOOL_MAKES(function, NONE_OF_IT, __VA_ARGS__)
#define TOOL_MAKES(function, made, ...) \
    TOOL_CALL(function, NONE_OF_IT, NONE_OF_IT, 0, made, __VA_ARGS__)
#define TOOL_ON(function, ...) \
    TOOL_CALL(function, NONE_OF_IT, 0, TOOL_MPI_T_ERR_INVALID_HANDLE, NONE_OF_IT, __VA_ARGS__)
#define TOOL_NAME(Name) \
    extern __typeof__(PMPI_T_##Name) MPI_T_##Name __attribute__((weak, alias("PMPI_T_" #Name)));

int PMPI_T_init_thread(int required, int *provided)
{
    TOOL(init_thread, thread_in(required), W(provided))
    if (provided)
        *provided = thread_out(*provided);
    core.tool_started += !rc;
    return rc;
}
TOOL_NAME(init_thread)
int PMPI_T_finalize(void)
{
    TOOL(finalize, 0)
    core.tool_started -= !rc;
    return rc;
}
TOOL_NAME(finalize)
#define TOOL_ONE(Name, Type)  \
    int PMPI_T_##Name(Type x) \
    {                         \
        TOOL(Name, W(x))      \
        return rc;            \
    }                         \
    TOOL_NAME(Name)
TOOL_ONE(cvar_get_num, int *)
TOOL_ONE(pvar_get_num, int *)
TOOL_ONE(category_get_num, int *)
#define TOOL_TWO(Name, A, B)    \
    int PMPI_T_##Name(A x, B y) \
    {                           \
        TOOL(Name, W(x), W(y))  \
        return rc;              \
    }                           \
    TOOL_NAME(Name)
TOOL_TWO(cvar_get_index, const char *, int *)
TOOL_TWO(category_get_index, const char *, int *)
TOOL_ONE(category_changed, int *)
#define TOOL_LIST(Name)                                  \
    int PMPI_T_##Name(int index, int len, int indices[]) \
    {                                                    \
        TOOL(Name, index, len, W(indices))               \
        return rc;                                       \
    }                                                    \
    TOOL_NAME(Name)
TOOL_LIST(category_get_cvars)
TOOL_LIST(category_get_pvars)
TOOL_LIST(category_get_categories)
int PMPI_T_category_get_info(int index, char *name, int *name_len, char *desc, int *desc_len,
                             int *cvars, int *pvars, int *categories)
{
    TOOL(category_get_info, index, W(name), W(name_len), W(desc), W(desc_len), W(cvars), W(pvars),
         W(categories))
    return rc;
}
TOOL_NAME(category_get_info)
int PMPI_T_cvar_get_info(int index, char *name, int *name_len, int *verbosity, MPI_Datatype *type,
                         MPI_T_enum *names, char *desc, int *desc_len, int *bind, int *scope)
{
    TOOL_MAKES(cvar_get_info, 5, index, W(name), W(name_len), W(verbosity), 0, 0, W(desc),
               W(desc_len), W(bind), W(scope))
    if (rc)
        return rc;
    tool_convert(verbosity);
    tool_convert(bind);
    tool_convert(scope);
    if (type)
        *type = tool_type(a[4]);
    if (names)
        *names = a[5] ? (MPI_T_enum)a[5] : MPI_T_ENUM_NULL;
    return 0;
}
TOOL_NAME(cvar_get_info)
int PMPI_T_pvar_get_info(int index, char *name, int *name_len, int *verbosity, int *class,
                         MPI_Datatype *type, MPI_T_enum *names, char *desc, int *desc_len,
                         int *bind, int *readonly, int *continuous, int *atomic)
{
    TOOL_MAKES(pvar_get_info, 6, index, W(name), W(name_len), W(verbosity), W(class), 0, 0, W(desc),
               W(desc_len), W(bind), W(readonly), W(continuous), W(atomic))
    if (rc)
        return rc;
    tool_convert(verbosity);
    tool_convert(class);
    tool_convert(bind);
    if (type)
        *type = tool_type(a[5]);
    if (names)
        *names = a[6] ? (MPI_T_enum)a[6] : MPI_T_ENUM_NULL;
    return 0;
}
TOOL_NAME(pvar_get_info)
int PMPI_T_pvar_get_index(const char *name, int class, int *index)
{
    TOOL(pvar_get_index, W(name), tool_class_in(class), W(index))
    return rc;
}
TOOL_NAME(pvar_get_index)
int PMPI_T_cvar_handle_alloc(int index, void *object_, MPI_T_cvar_handle *handle, int *count)
{
    if (object_)
        return MPI_T_ERR_INVALID_HANDLE;
    TOOL_MAKES(cvar_handle_alloc, 2, index, 0, 0, W(count))
    *handle = rc ? MPI_T_CVAR_HANDLE_NULL : (MPI_T_cvar_handle)a[2];
    return rc;
}
TOOL_NAME(cvar_handle_alloc)
int PMPI_T_cvar_handle_free(MPI_T_cvar_handle *handle)
{
    TOOL_CALL(cvar_handle_free, NONE_OF_IT, 0, TOOL_IS_GONE, NONE_OF_IT, W(*handle))
    *handle = MPI_T_CVAR_HANDLE_NULL; /* also one that has vanished with its library */
    return rc;
}
TOOL_NAME(cvar_handle_free)
#define TOOL_VALUE(Name, CONST)                                  \
    int PMPI_T_##Name(MPI_T_cvar_handle handle, CONST void *buf) \
    {                                                            \
        TOOL_ON(Name, W(handle), W(buf))                         \
        return rc;                                               \
    }                                                            \
    TOOL_NAME(Name)
TOOL_VALUE(cvar_read, )
TOOL_VALUE(cvar_write, const)
int PMPI_T_pvar_session_create(MPI_T_pvar_session *session)
{
    TOOL_MAKES(pvar_session_create, 0, 0)
    *session = rc ? MPI_T_PVAR_SESSION_NULL : (MPI_T_pvar_session)a[0];
    return rc;
}
TOOL_NAME(pvar_session_create)
int PMPI_T_pvar_session_free(MPI_T_pvar_session *session)
{
    TOOL_CALL(pvar_session_free, 0, NONE_OF_IT, TOOL_IS_GONE, NONE_OF_IT, W(*session))
    *session = MPI_T_PVAR_SESSION_NULL;
    return rc;
}
TOOL_NAME(pvar_session_free)
int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int index, void *object_,
                             MPI_T_pvar_handle *handle, int *count)
{
    long unused;
    if (object_)
        return tool_read(session, &unused) ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_INVALID_SESSION;
    TOOL_CALL(pvar_handle_alloc, 0, NONE_OF_IT, 0, 3, W(session), index, 0, 0, W(count))
    *handle = rc ? MPI_T_PVAR_HANDLE_NULL : (MPI_T_pvar_handle)a[3];
    return rc;
}
TOOL_NAME(pvar_handle_alloc)
int PMPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
{
    TOOL_CALL(pvar_handle_free, 0, 1, TOOL_IS_GONE, NONE_OF_IT, W(session), W(*handle))
    *handle = MPI_T_PVAR_HANDLE_NULL;
    return rc;
}
TOOL_NAME(pvar_handle_free)
#define TOOL_PVAR(Name, MORE_PARAM, MORE_ARG)                                                   \
    int PMPI_T_##Name(MPI_T_pvar_session session, MPI_T_pvar_handle handle MORE_PARAM)          \
    {                                                                                           \
        TOOL_CALL(Name, 0, 1, TOOL_MPI_T_ERR_INVALID_HANDLE, NONE_OF_IT, W(session), W(handle), \
                  MORE_ARG)                                                                     \
        return rc;                                                                              \
    }                                                                                           \
    TOOL_NAME(Name)
#define TOOL_COMMA ,
TOOL_PVAR(pvar_start, , 0)
TOOL_PVAR(pvar_stop, , 0)
TOOL_PVAR(pvar_reset, , 0)
TOOL_PVAR(pvar_read, TOOL_COMMA void *buf, W(buf))
TOOL_PVAR(pvar_write, TOOL_COMMA const void *buf, W(buf))
TOOL_PVAR(pvar_readreset, TOOL_COMMA void *buf, W(buf))
int PMPI_T_enum_get_info(MPI_T_enum names, int *num, char *name, int *name_len)
{
    TOOL_ON(enum_get_info, W(names), W(num), W(name), W(name_len))
    return rc;
}
TOOL_NAME(enum_get_info)
int PMPI_T_enum_get_item(MPI_T_enum names, int index, int *value, char *name, int *name_len)
{
    TOOL_ON(enum_get_item, W(names), index, W(value), W(name), W(name_len))
    return rc;
}
TOOL_NAME(enum_get_item)

/* Events. Those of the library below cannot call the program, so the capsule has none, which a tool must expect of any library:
 * counts are 0, and no index or handle is valid. As natively, no error handler is called.
 */
#ifdef MPICH_ABI
#ifdef STANDARD_ABI /* whose mpi.h here has only what the tables say */
typedef void *MPI_T_event_registration, *MPI_T_event_instance;
typedef int MPI_T_cb_safety, MPI_T_source_order;
typedef void MPI_T_event_cb_function(void), MPI_T_event_free_cb_function(void),
    MPI_T_event_dropped_cb_function(void);
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define NO_EVENT(Name, error, ...)                                    \
    int PMPI_T_##Name(__VA_ARGS__)                                    \
    {                                                                 \
        return core.tool_started ? error : MPI_T_ERR_NOT_INITIALIZED; \
    }                                                                 \
    TOOL_NAME(Name)
#define NO_EVENTS(Name, count, ...)           \
    int PMPI_T_##Name(__VA_ARGS__)            \
    {                                         \
        if (!core.tool_started)               \
            return MPI_T_ERR_NOT_INITIALIZED; \
        if (!(count))                         \
            return MPI_T_ERR_INVALID;         \
        *(count) = 0;                         \
        return MPI_SUCCESS;                   \
    }                                         \
    TOOL_NAME(Name)
// clang-format off
NO_EVENTS(source_get_num, n, int *n)
NO_EVENTS(event_get_num, n, int *n)
NO_EVENTS(category_get_num_events, n, int category, int *n)
NO_EVENT(category_get_events, MPI_SUCCESS, int category, int len, int indices[])
NO_EVENT(source_get_info, MPI_T_ERR_INVALID_INDEX, int source, char *name, int *name_len, char *desc, int *desc_len,
         MPI_T_source_order *ordering, MPI_Count *ticks_per_second, MPI_Count *max_ticks, MPI_Info *info)
NO_EVENT(source_get_timestamp, MPI_T_ERR_INVALID_INDEX, int source, MPI_Count *timestamp)
NO_EVENT(event_get_index, MPI_T_ERR_INVALID_NAME, const char *name, int *index)
NO_EVENT(event_get_info, MPI_T_ERR_INVALID_INDEX, int index, char *name, int *name_len, int *verbosity, MPI_Datatype *types,
         MPI_Aint *displacements, int *n, MPI_T_enum *enumtype, MPI_Info *info, char *desc, int *desc_len, int *bind)
NO_EVENT(event_handle_alloc, MPI_T_ERR_INVALID_INDEX, int index, void *object, MPI_Info info, MPI_T_event_registration *out)
NO_EVENT(event_handle_free, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_registration r, void *data, MPI_T_event_free_cb_function fn)
NO_EVENT(event_handle_get_info, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_registration r, MPI_Info *info)
NO_EVENT(event_handle_set_info, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_registration r, MPI_Info info)
NO_EVENT(event_register_callback, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_registration r, MPI_T_cb_safety safety, MPI_Info info,
         void *data, MPI_T_event_cb_function fn)
NO_EVENT(event_callback_get_info, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_registration r, MPI_T_cb_safety safety, MPI_Info *info)
NO_EVENT(event_callback_set_info, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_registration r, MPI_T_cb_safety safety, MPI_Info info)
NO_EVENT(event_set_dropped_handler, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_registration r, MPI_T_event_dropped_cb_function fn)
NO_EVENT(event_read, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_instance e, int element, void *buffer)
NO_EVENT(event_copy, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_instance e, void *buffer)
NO_EVENT(event_get_timestamp, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_instance e, MPI_Count *timestamp)
NO_EVENT(event_get_source, MPI_T_ERR_INVALID_HANDLE, MPI_T_event_instance e, int *source)
// clang-format on
#pragma GCC diagnostic pop
#endif
