/* faces/inside.h - calls of the core that faces write by hand are enclosed by INSIDE, too. */
#ifndef CAPSULE_FACE_INSIDE_H
#define CAPSULE_FACE_INSIDE_H
#define core_Buffer_attach(...)     INSIDE(core_Buffer_attach(__VA_ARGS__))
#define core_Buffer_detach(...)     INSIDE(core_Buffer_detach(__VA_ARGS__))
#define core_Grequest_start(...)    INSIDE(core_Grequest_start(__VA_ARGS__))
#define core_Info_create_env(...)   INSIDE(core_Info_create_env(__VA_ARGS__))
#define core_Info_get_string(...)   INSIDE(core_Info_get_string(__VA_ARGS__))
#define core_Type_get_contents(...) INSIDE(core_Type_get_contents(__VA_ARGS__))
#endif
