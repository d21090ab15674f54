/* Shared by the files of the automatic tier; see auto.c. */
#ifndef FLOW_AUTO_H
#define FLOW_AUTO_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AUTO_DATA_MAX = 64, AUTO_OBJECTS_MAX = 1280, AUTO_FOREIGN_MAX = 1024, AUTO_REGISTERS = 24 };

struct auto_range {
    char *from, *to;
};

/* The executable and what was loaded with it; found once, before main(). */
struct auto_program {
    char *base;
    struct auto_range image, text, relro;
    struct auto_range data[AUTO_DATA_MAX]; /* its variables, without those of libraries */
    int data_count;
    struct auto_range objects[AUTO_OBJECTS_MAX]; /* libraries */
    int object_count;
    uint64_t hash;         /* of the code */
    uint64_t objects_hash; /* of the libraries' names and addresses */
    char *arguments;       /* argv[0] */
    char *tls;             /* variables of the main thread */
    size_t tls_bytes;
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * slots, *relocations;
    size_t slots_bytes, relocations_bytes;
};

/* Where the program is: what a call that returns there needs. */
struct auto_registers {
    uint64_t saved[AUTO_REGISTERS]; /* those that a call preserves; see registers.c */
    uint64_t stack, code;
};

/* layout.c */
extern struct auto_program auto_program;
int layout_find(void);
int layout_fix(char **argv, char **envp); /* may restart the program at fixed addresses */
bool auto_is_relro(const void *address);
int layout_foreign(struct auto_range *ranges,
                   int room); /* memory that is neither saved nor fixed */

/* foreign.c: ranges in ascending order */
bool foreign_is(const struct auto_range *ranges, uint32_t count, uint64_t word);
uint64_t *foreign_next(const struct auto_range *ranges, uint32_t count, char *from, char *to);

/* divert.c */
int divert_calls(const struct auto_program *program);

/* registers.c */
int registers_take(struct auto_registers *r, char **stack_top);
uint64_t registers_guard(void); /* what the compiler puts behind arrays on the stack */
_Noreturn void registers_resume(const struct auto_registers *r, int result);

#endif
