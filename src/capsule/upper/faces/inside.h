/* faces/inside.h - the faces' hand-written calls of the core are also within INSIDE. */
#ifndef CAPSULE_FACE_INSIDE_H
#define CAPSULE_FACE_INSIDE_H
#define core_buffer_attach(...)     INSIDE(core_buffer_attach(__VA_ARGS__))
#define core_buffer_detach(...)     INSIDE(core_buffer_detach(__VA_ARGS__))
#define core_buffer_flush(...)      INSIDE(core_buffer_flush(__VA_ARGS__))
#define core_buffer_iflush(...)     INSIDE(core_buffer_iflush(__VA_ARGS__))
#define core_Grequest_start(...)    INSIDE(core_Grequest_start(__VA_ARGS__))
#define core_Info_create_env(...)   INSIDE(core_Info_create_env(__VA_ARGS__))
#define core_Info_get_string(...)   INSIDE(core_Info_get_string(__VA_ARGS__))
#define core_Type_get_contents(...) INSIDE(core_Type_get_contents(__VA_ARGS__))

/* ENTER(class)(call): INSIDE, except for rows of class ANYTIME. Whoever enters begins the receives that wait (fast.h), and
 * only the thread that posted them may do that. */
#define OUTSIDE(call)               (call)
#define ENTERS_ANYTIME              ~, OUTSIDE
#define ENTER(class)                ENTER_SECOND(ENTERS_##class, INSIDE, ~)
#define ENTER_SECOND(...)           ENTER_WITH(__VA_ARGS__)
#define ENTER_WITH(none, with, ...) with

/* These only use memory of the upper half, which several threads must not change at once. A single thread calls them
 * outside INSIDE, so that a checkpoint may happen in the program's copy and delete functions. */
#define WITH_BATON(call)      (upper.several ? INSIDE(call) : (call))
#define keyval_new(...)       WITH_BATON(keyval_new(__VA_ARGS__))
#define keyval_free(...)      WITH_BATON(keyval_free(__VA_ARGS__))
#define attribute_set(...)    WITH_BATON(attribute_set(__VA_ARGS__))
#define attribute_get(...)    WITH_BATON(attribute_get(__VA_ARGS__))
#define attribute_delete(...) WITH_BATON(attribute_delete(__VA_ARGS__))
#define new_errhandler(...)   WITH_BATON(new_errhandler(__VA_ARGS__))
#endif
