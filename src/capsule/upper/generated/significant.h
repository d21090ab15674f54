/* generated/significant.h - conditions under which a collective reads one of its types (TYPEIF and TYPES in
 * table/functions.def). Only the core needs them: the faces and the lower half never look behind the handle. */
#ifndef CAPSULE_GENERATED_SIGNIFICANT_H
#define CAPSULE_GENERATED_SIGNIFICANT_H
// clang-format off
#define in_place(buf) ((buf) == NEUTRAL_IN_PLACE)
#define unless_in_place(buf, n) (in_place(buf) ? 0 : (n))
#define gives(buf, root) (!in_place(buf) && (root) >= 0)    /* this rank exchanges data with the root */
#define is_root(root, c) ((root) == ((c)->comm.remote_size ? NEUTRAL_ROOT : (c)->comm.rank))
// clang-format on
#endif
