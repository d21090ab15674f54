#include <code/erasure.h>

#include <isa-l.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <base/fail.h>

/* ISA-L's expansion of a matrix's rows, all together and each alone. Only ISA-L knows how a row lies inside the former
 * (32 bytes a coefficient, or 8 on processors with GFNI), so we never look a row up there. */
struct tables {
    int k, rows;
    uint8_t *all, *each;
};

struct mend_code {
    int k, m;
    uint8_t *matrix;      /* (k+m) x k: identity, then Cauchy */
    struct tables tables; /* of the parity rows */
};

struct mend_recipe {
    struct tables tables;
};

static size_t row_bytes(int k)
{
    return (size_t)k * 32; /* the most that any of its forms needs */
}

static bool tables_make(struct tables *t, int k, int rows, uint8_t *matrix)
{
    size_t bytes = row_bytes(k) * (size_t)(rows ? rows : 1);
    *t = (struct tables){k, rows, calloc(1, bytes), calloc(1, bytes)};
    if (!t->all || !t->each)
        return false;
    if (rows)
        ec_init_tables(k, rows, matrix, t->all);
    for (int r = 0; r < rows; r++)
        ec_init_tables(k, 1, matrix + (size_t)r * (size_t)k, t->each + (size_t)r * row_bytes(k));
    return true;
}

static void tables_free(struct tables *t)
{
    free(t->all);
    free(t->each);
}

static const uint8_t *row_of(const struct tables *t, int row)
{
    return t->each + (size_t)row * row_bytes(t->k);
}

/* ISA-L takes int lengths and pointers that are not const. */
#define STEP ((size_t)1 << 30)

int mend_code_new(int k, int m, mend_code **out)
{
    if (k < 1 || m < 0 || k + m > MEND_CODE_MAX)
        return mend_fail(MEND_ERR_ARGUMENT, "an erasure code of %d+%d pieces is not possible", k,
                         m);
    mend_code *code = calloc(1, sizeof *code);
    if (code) {
        code->k = k;
        code->m = m;
        code->matrix = calloc((size_t)k + (size_t)m, (size_t)k);
    }
    if (code && code->matrix)
        gf_gen_cauchy1_matrix(code->matrix, k + m, k);
    if (!code || !code->matrix ||
        !tables_make(&code->tables, k, m, code->matrix + (size_t)k * (size_t)k)) {
        mend_code_free(code);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for an erasure code of %d+%d pieces", k, m);
    }
    *out = code;
    return 0;
}

void mend_code_free(mend_code *code)
{
    if (!code)
        return;
    free(code->matrix);
    tables_free(&code->tables);
    free(code);
}

static void apply(int k, int rows, const uint8_t *tables, size_t length, uint8_t *const in[],
                  uint8_t *const out[])
{
    uint8_t *from[MEND_CODE_MAX], *to[MEND_CODE_MAX];

    for (size_t at = 0; at < length; at += STEP) {
        size_t n = length - at < STEP ? length - at : STEP;
        for (int i = 0; i < k; i++)
            from[i] = in[i] + at;
        for (int i = 0; i < rows; i++)
            to[i] = out[i] + at;
        ec_encode_data((int)n, k, rows, (uint8_t *)tables, from, to);
    }
}

static void add(const struct tables *tables, int row, int column, size_t length, const uint8_t *in,
                uint8_t *out)
{
    for (size_t at = 0; at < length; at += STEP) {
        size_t n = length - at < STEP ? length - at : STEP;
        uint8_t *to[1] = {out + at};
        ec_encode_data_update((int)n, tables->k, 1, column, (uint8_t *)row_of(tables, row),
                              (uint8_t *)in + at, to);
    }
}

void mend_code_encode(const mend_code *code, size_t length, uint8_t *const data[],
                      uint8_t *const parity[])
{
    if (code->m && length)
        apply(code->k, code->m, code->tables.all, length, data, parity);
}

void mend_code_row(const mend_code *code, size_t length, int row, uint8_t *const data[],
                   uint8_t *parity)
{
    uint8_t *out[1] = {parity};
    apply(code->k, 1, row_of(&code->tables, row), length, data, out);
}

void mend_code_add(const mend_code *code, size_t length, int row, int column, const uint8_t *data,
                   uint8_t *parity)
{
    add(&code->tables, row, column, length, data, parity);
}

/* rows of `make` = matrix rows of the lost pieces times the inverse of the rows that are used. */
static int solve(const mend_code *code, const int use[], const int lost[], int lost_count,
                 uint8_t *make)
{
    int k = code->k;
    size_t kk = (size_t)k;
    uint8_t *square = malloc(kk * kk), *inverse = malloc(kk * kk);
    int rc = 0;

    if (!square || !inverse) {
        rc = mend_fail(MEND_ERR_NO_MEMORY, "no memory to invert a %d x %d matrix", k, k);
        goto out;
    }
    for (int i = 0; i < k; i++)
        memcpy(square + (size_t)i * kk, code->matrix + (size_t)use[i] * kk, kk);
    if (gf_invert_matrix(square, inverse, k) != 0) {
        rc = mend_fail(MEND_ERR_LOST, "the pieces that are left do not determine the lost ones");
        goto out;
    }
    for (int r = 0; r < lost_count; r++) {
        const uint8_t *row = code->matrix + (size_t)lost[r] * kk;
        for (int c = 0; c < k; c++) {
            uint8_t sum = 0;
            for (int i = 0; i < k; i++)
                sum ^= gf_mul(row[i], inverse[(size_t)i * kk + (size_t)c]);
            make[(size_t)r * kk + (size_t)c] = sum;
        }
    }
out:
    free(square);
    free(inverse);
    return rc;
}

int mend_recipe_new(const mend_code *code, const int use[], const int lost[], int lost_count,
                    mend_recipe **out)
{
    uint8_t seen[MEND_CODE_MAX] = {0};
    int n = code->k + code->m;

    if (lost_count < 1 || lost_count > n)
        return mend_fail(MEND_ERR_ARGUMENT, "%d lost pieces of %d", lost_count, n);
    for (int i = 0; i < code->k; i++)
        if (use[i] < 0 || use[i] >= n || seen[use[i]]++)
            return mend_fail(MEND_ERR_ARGUMENT, "piece %d is out of range or named twice", use[i]);
    for (int i = 0; i < lost_count; i++)
        if (lost[i] < 0 || lost[i] >= n)
            return mend_fail(MEND_ERR_ARGUMENT, "piece %d is out of range", lost[i]);

    mend_recipe *recipe = calloc(1, sizeof *recipe);
    size_t cells = (size_t)lost_count * (size_t)code->k;
    uint8_t *make = malloc(cells);
    if (!recipe || !make) {
        free(make);
        mend_recipe_free(recipe);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory to rebuild %d pieces", lost_count);
    }
    int rc = solve(code, use, lost, lost_count, make);
    if (rc == 0 && !tables_make(&recipe->tables, code->k, lost_count, make))
        rc = mend_fail(MEND_ERR_NO_MEMORY, "no memory to rebuild %d pieces", lost_count);
    free(make);
    if (rc) {
        mend_recipe_free(recipe);
        return rc;
    }
    *out = recipe;
    return 0;
}

void mend_recipe_free(mend_recipe *recipe)
{
    if (!recipe)
        return;
    tables_free(&recipe->tables);
    free(recipe);
}

void mend_recipe_run(const mend_recipe *recipe, size_t length, uint8_t *const use[],
                     uint8_t *const out[])
{
    if (length)
        apply(recipe->tables.k, recipe->tables.rows, recipe->tables.all, length, use, out);
}

void mend_recipe_add(const mend_recipe *recipe, size_t length, int row, int column,
                     const uint8_t *piece, uint8_t *out)
{
    add(&recipe->tables, row, column, length, piece, out);
}
