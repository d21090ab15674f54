/* generated/significant.h - when a type among the arguments of a collective is read (TYPEIF and TYPES in
 * table/functions.def). Only the core asks: above it and below nobody looks behind the handle. */
#ifndef CAPSULE_GENERATED_SIGNIFICANT_H
#define CAPSULE_GENERATED_SIGNIFICANT_H
// clang-format off
#define in_place(buf) ((buf) == NEUTRAL_IN_PLACE)
#define unless_in_place(buf, n) (in_place(buf) ? 0 : (n))
#define gives(buf, root) (!in_place(buf) && (root) >= 0)    /* one of those that the root speaks with */
#define is_root(root, c) ((root) == ((c)->comm.remote_size ? NEUTRAL_ROOT : (c)->comm.rank))
// clang-format on
#endif
