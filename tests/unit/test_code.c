/* Every loss pattern of up to m of k+m pieces, for every k+m <= 12, comes back bit for bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <code/erasure.h>
#include <mend/error.h>

#define LENGTH 96 /* long enough for the vector code and its tail */
#define N      12

static uint8_t pieces[N][LENGTH + 5];

static void fill(int k, int m, mend_code *code)
{
    uint8_t *data[N], *parity[N];
    for (int i = 0; i < k + m; i++)
        for (int j = 0; j < LENGTH + 5; j++)
            pieces[i][j] = (uint8_t)(i < k ? rand() : 0xEE);
    for (int i = 0; i < k; i++)
        data[i] = pieces[i];
    for (int i = 0; i < m; i++)
        parity[i] = pieces[k + i];
    mend_code_encode(code, LENGTH + 5, data, parity);
}

static void one_pattern(int k, int m, mend_code *code, unsigned lost_set)
{
    int use[N], lost[N], uses = 0, losses = 0;
    uint8_t *in[N], *out[N], room[N][LENGTH + 5];
    mend_recipe *recipe = NULL;

    for (int i = 0; i < k + m; i++)
        if (lost_set >> i & 1)
            lost[losses++] = i;
        else if (uses < k)
            use[uses++] = i;
    assert_int_equal(uses, k);
    for (int i = 0; i < k; i++)
        in[i] = pieces[use[i]];
    for (int i = 0; i < losses; i++)
        out[i] = room[i];
    assert_int_equal(mend_recipe_new(code, use, lost, losses, &recipe), 0);
    mend_recipe_run(recipe, LENGTH + 5, in, out);
    for (int i = 0; i < losses; i++)
        assert_memory_equal(room[i], pieces[lost[i]], LENGTH + 5);
    memset(room[0], 0, LENGTH + 5); /* the same piece by piece */
    for (int i = 0; i < k; i++)
        mend_recipe_add(recipe, LENGTH + 5, 0, i, in[i], room[0]);
    assert_memory_equal(room[0], pieces[lost[0]], LENGTH + 5);
    mend_recipe_free(recipe);
}

static void every_pattern(void **state)
{
    (void)state;
    long patterns = 0;
    for (int n = 2; n <= N; n++)
        for (int m = 1; m < n; m++) {
            mend_code *code = NULL;
            assert_int_equal(mend_code_new(n - m, m, &code), 0);
            fill(n - m, m, code);
            for (unsigned set = 1; set < 1u << n; set++)
                if (__builtin_popcount(set) <= m) {
                    one_pattern(n - m, m, code, set);
                    patterns++;
                }
            mend_code_free(code);
        }
    print_message("%ld loss patterns\n", patterns);
}

static void rows_and_parts(void **state)
{
    (void)state;
    mend_code *code = NULL;
    uint8_t *data[5], row[LENGTH + 5], sum[LENGTH + 5];
    assert_int_equal(mend_code_new(5, 3, &code), 0);
    fill(5, 3, code);
    for (int i = 0; i < 5; i++)
        data[i] = pieces[i];
    for (int r = 0; r < 3; r++) {
        mend_code_row(code, LENGTH + 5, r, data, row);
        memset(sum, 0, sizeof sum);
        for (int i = 4; i >= 0; i--)
            mend_code_add(code, LENGTH + 5, r, i, data[i], sum);
        assert_memory_equal(row, pieces[5 + r], LENGTH + 5);
        assert_memory_equal(sum, pieces[5 + r], LENGTH + 5);
    }
    mend_code_free(code);
}

static void wrong_use(void **state)
{
    (void)state;
    mend_code *code = NULL;
    mend_recipe *recipe = NULL;
    assert_int_equal(mend_code_new(0, 1, &code), MEND_ERR_ARGUMENT);
    assert_int_equal(mend_code_new(200, 100, &code), MEND_ERR_ARGUMENT);
    assert_int_equal(mend_code_new(1, -1, &code), MEND_ERR_ARGUMENT);
    assert_int_equal(mend_code_new(2, 1, &code), 0);
    assert_int_equal(mend_recipe_new(code, (int[]){0, 0}, (int[]){1}, 1, &recipe),
                     MEND_ERR_ARGUMENT);
    assert_int_equal(mend_recipe_new(code, (int[]){0, 3}, (int[]){1}, 1, &recipe),
                     MEND_ERR_ARGUMENT);
    assert_int_equal(mend_recipe_new(code, (int[]){0, 1}, (int[]){9}, 1, &recipe),
                     MEND_ERR_ARGUMENT);
    assert_int_equal(mend_recipe_new(code, (int[]){0, 1}, (int[]){2}, 0, &recipe),
                     MEND_ERR_ARGUMENT);
    mend_code_free(code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pattern),
        cmocka_unit_test(rows_and_parts),
        cmocka_unit_test(wrong_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
