// The kernels that Mend loads into a device: sums of pages, which of them changed, and the way of changed pages to the host.
// kernels.ptx.inc is made from this file by kernels.sh; the driver compiles it for the device it finds.
// The sum of a page is the same as that of mend_device_sum_page (sums.c).

static const int WORDS = 512; // of 64 bits, a page

__device__ __forceinline__ unsigned long long mix(unsigned long long x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// One warp looks at one page after the other: sums it, copies it (to: 0 if not), and compares the sum with the one that
// is in `sums`, which it replaces. Pages that differ are counted, and listed with their new sums while there is room.
//
// Every word is mixed with its place, twice, in ways of their own; the results are added up. A change
// of one word always changes both halves of the sum.
extern "C" __global__ void mend_look_pages(const ulonglong2 *from, unsigned long long count, ulonglong2 *to,
                                           ulonglong2 *sums, unsigned long long *found, unsigned long long most,
                                           unsigned long long *list, ulonglong2 *news)
{
    const unsigned lane = threadIdx.x % 32;
    const unsigned long long warps = (unsigned long long)gridDim.x * (blockDim.x / 32);
    for (unsigned long long page = ((unsigned long long)blockIdx.x * blockDim.x + threadIdx.x) / 32; page < count;
         page += warps) {
        const unsigned long long at = page * (WORDS / 2) + lane;
        unsigned long long low = 0, high = 0;
        ulonglong2 two[WORDS / 64];
#pragma unroll
        for (int i = 0; i < WORDS / 64; i++)
            two[i] = __ldcs(from + at + i * 32);
        if (to) {
#pragma unroll
            for (int i = 0; i < WORDS / 64; i++)
                __stcs(to + at + i * 32, two[i]);
        }
#pragma unroll
        for (int i = 0; i < WORDS / 64; i++) {
            const unsigned long long place = 2 * (i * 32 + lane) + 1;
            low += mix(two[i].x + place * 0x9e3779b97f4a7c15ull);
            low += mix(two[i].y + (place + 1) * 0x9e3779b97f4a7c15ull);
            high += mix((two[i].x ^ 0x5851f42d4c957f2dull) + place * 0xd1342543de82ef95ull);
            high += mix((two[i].y ^ 0x5851f42d4c957f2dull) + (place + 1) * 0xd1342543de82ef95ull);
        }
        for (int step = 16; step; step /= 2) {
            low += __shfl_down_sync(0xffffffffu, low, step);
            high += __shfl_down_sync(0xffffffffu, high, step);
        }
        if (lane == 0) {
            const ulonglong2 sum = make_ulonglong2(low || high ? low : 1, high), old = sums[page];
            if (sum.x == old.x && sum.y == old.y)
                continue;
            sums[page] = sum;
            const unsigned long long n = atomicAdd(found, 1ull);
            if (n < most) {
                list[n] = page;
                news[n] = sum;
            }
        }
    }
}

// One warp copies one page of the list; they lie side by side then.
extern "C" __global__ void mend_gather_pages(const uint4 *from, const unsigned long long *list,
                                             unsigned long long count, uint4 *to)
{
    const unsigned lane = threadIdx.x % 32;
    const unsigned long long warps = (unsigned long long)gridDim.x * (blockDim.x / 32);
    for (unsigned long long i = ((unsigned long long)blockIdx.x * blockDim.x + threadIdx.x) / 32; i < count;
         i += warps) {
        const uint4 *page = from + list[i] * 256 + lane;
        for (int k = 0; k < 256; k += 32)
            to[i * 256 + lane + k] = __ldcs(page + k);
    }
}
