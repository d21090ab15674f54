/* border/each.h - apply a macro to every argument description of a table row (table/functions.def).
 *   EACH(m, (A,x), (B,y))   ->  m(A,x) m(B,y)
 *   LIST(m, (A,x), (B,y))   ->  m(A,x), m(B,y)
 * Plain C preprocessor: the build needs no generator program. Up to 16 arguments.
 */
#ifndef CAPSULE_EACH_H
#define CAPSULE_EACH_H
// clang-format off
#define EACH_CAT_(a, b) a##b
#define EACH_CAT(a, b) EACH_CAT_(a, b)
#define EACH_COUNT_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, n, ...) n
#define EACH_COUNT(...) EACH_COUNT_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define EACH_1(m, a) m a
#define EACH_2(m, a, ...) m a EACH_1(m, __VA_ARGS__)
#define EACH_3(m, a, ...) m a EACH_2(m, __VA_ARGS__)
#define EACH_4(m, a, ...) m a EACH_3(m, __VA_ARGS__)
#define EACH_5(m, a, ...) m a EACH_4(m, __VA_ARGS__)
#define EACH_6(m, a, ...) m a EACH_5(m, __VA_ARGS__)
#define EACH_7(m, a, ...) m a EACH_6(m, __VA_ARGS__)
#define EACH_8(m, a, ...) m a EACH_7(m, __VA_ARGS__)
#define EACH_9(m, a, ...) m a EACH_8(m, __VA_ARGS__)
#define EACH_10(m, a, ...) m a EACH_9(m, __VA_ARGS__)
#define EACH_11(m, a, ...) m a EACH_10(m, __VA_ARGS__)
#define EACH_12(m, a, ...) m a EACH_11(m, __VA_ARGS__)
#define EACH_13(m, a, ...) m a EACH_12(m, __VA_ARGS__)
#define EACH_14(m, a, ...) m a EACH_13(m, __VA_ARGS__)
#define EACH_15(m, a, ...) m a EACH_14(m, __VA_ARGS__)
#define EACH_16(m, a, ...) m a EACH_15(m, __VA_ARGS__)
#define EACH(m, ...) EACH_CAT(EACH_, EACH_COUNT(__VA_ARGS__))(m, __VA_ARGS__)
#define LIST_1(m, a) m a
#define LIST_2(m, a, ...) m a, LIST_1(m, __VA_ARGS__)
#define LIST_3(m, a, ...) m a, LIST_2(m, __VA_ARGS__)
#define LIST_4(m, a, ...) m a, LIST_3(m, __VA_ARGS__)
#define LIST_5(m, a, ...) m a, LIST_4(m, __VA_ARGS__)
#define LIST_6(m, a, ...) m a, LIST_5(m, __VA_ARGS__)
#define LIST_7(m, a, ...) m a, LIST_6(m, __VA_ARGS__)
#define LIST_8(m, a, ...) m a, LIST_7(m, __VA_ARGS__)
#define LIST_9(m, a, ...) m a, LIST_8(m, __VA_ARGS__)
#define LIST_10(m, a, ...) m a, LIST_9(m, __VA_ARGS__)
#define LIST_11(m, a, ...) m a, LIST_10(m, __VA_ARGS__)
#define LIST_12(m, a, ...) m a, LIST_11(m, __VA_ARGS__)
#define LIST_13(m, a, ...) m a, LIST_12(m, __VA_ARGS__)
#define LIST_14(m, a, ...) m a, LIST_13(m, __VA_ARGS__)
#define LIST_15(m, a, ...) m a, LIST_14(m, __VA_ARGS__)
#define LIST_16(m, a, ...) m a, LIST_15(m, __VA_ARGS__)
#define LIST(m, ...) EACH_CAT(LIST_, EACH_COUNT(__VA_ARGS__))(m, __VA_ARGS__)
// clang-format on
#endif
