/* Erasure code: k data pieces and m parity pieces of equal length; any k of the k+m give all back.
 *
 * The matrix is the identity over a Cauchy matrix: every square part of it is invertible, for every
 * k + m <= 255 (a Vandermonde matrix over GF(256) is not). The arithmetic is ISA-L's.
 */
#ifndef CODE_ERASURE_H
#define CODE_ERASURE_H

#include <stddef.h>
#include <stdint.h>

#define MEND_CODE_MAX 255

typedef struct mend_code mend_code;

/* 1 <= k, 0 <= m, k + m <= MEND_CODE_MAX. Errors: MEND_ERR_ARGUMENT, MEND_ERR_NO_MEMORY. */
int mend_code_new(int k, int m, mend_code **code);
void mend_code_free(mend_code *code);

/* parity[0..m-1] from data[0..k-1], each of `length` bytes. Pieces may not overlap. */
void mend_code_encode(const mend_code *code, size_t length, uint8_t *const data[],
                      uint8_t *const parity[]);

/* Only parity `row`, from all data pieces: for a holder of one row. */
void mend_code_row(const mend_code *code, size_t length, int row, uint8_t *const data[],
                   uint8_t *parity);

/* Parity `row` (0..m-1) += the contribution of data piece `column` (0..k-1). Parity starts as
 * zeros; the pieces may come in any order, each once: for a holder that receives one piece after
 * the other. */
void mend_code_add(const mend_code *code, size_t length, int row, int column, const uint8_t *data,
                   uint8_t *parity);

/* A recipe to rebuild the pieces lost[0..lost_count-1] (numbers 0..k+m-1: data, then parity) from
 * the k pieces use[0..k-1]. Errors: MEND_ERR_ARGUMENT (a piece named twice or out of range),
 * MEND_ERR_LOST (not invertible). */
typedef struct mend_recipe mend_recipe;
int mend_recipe_new(const mend_code *code, const int use[], const int lost[], int lost_count,
                    mend_recipe **recipe);
void mend_recipe_free(mend_recipe *recipe);
void mend_recipe_run(const mend_recipe *recipe, size_t length, uint8_t *const use[],
                     uint8_t *const out[]);
/* out piece `row` += the contribution of the used piece `column`. */
void mend_recipe_add(const mend_recipe *recipe, size_t length, int row, int column,
                     const uint8_t *piece, uint8_t *out);

#endif
