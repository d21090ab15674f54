// The kernels that Mend loads into a device: sums of pages, and the way of changed pages to the host.
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

// Every word is mixed with its place, twice, in ways of their own; the results are added up. A change
// of one word always changes both halves of the sum.
extern "C" __global__ void mend_page_sums(const ulonglong2 *pages, unsigned long long count, ulonglong2 *sums)
{
    const unsigned lane = threadIdx.x % 32;
    const unsigned long long warps = (unsigned long long)gridDim.x * (blockDim.x / 32);
    for (unsigned long long page = ((unsigned long long)blockIdx.x * blockDim.x + threadIdx.x) / 32; page < count;
         page += warps) {
        const ulonglong2 *from = pages + page * (WORDS / 2);
        unsigned long long low = 0, high = 0;
        for (int i = 0; i < WORDS / 64; i++) {
            const ulonglong2 two = __ldcs(from + i * 32 + lane);
            const unsigned long long place = 2 * (i * 32 + lane) + 1;
            low += mix(two.x + place * 0x9e3779b97f4a7c15ull);
            low += mix(two.y + (place + 1) * 0x9e3779b97f4a7c15ull);
            high += mix((two.x ^ 0x5851f42d4c957f2dull) + place * 0xd1342543de82ef95ull);
            high += mix((two.y ^ 0x5851f42d4c957f2dull) + (place + 1) * 0xd1342543de82ef95ull);
        }
        for (int step = 16; step; step /= 2) {
            low += __shfl_down_sync(0xffffffffu, low, step);
            high += __shfl_down_sync(0xffffffffu, high, step);
        }
        if (lane == 0)
            sums[page] = make_ulonglong2(low || high ? low : 1, high);
    }
}

// One warp copies one page of the list. `to` is host memory: whole lines of the bus, written once.
extern "C" __global__ void mend_gather_pages(const uint4 *from, const unsigned long long *list,
                                             unsigned long long count, uint4 *to)
{
    const unsigned lane = threadIdx.x % 32;
    const unsigned long long warps = (unsigned long long)gridDim.x * (blockDim.x / 32);
    for (unsigned long long i = ((unsigned long long)blockIdx.x * blockDim.x + threadIdx.x) / 32; i < count;
         i += warps) {
        const unsigned long long at = list[i] * 256 + lane;
        for (int k = 0; k < 256; k += 32)
            __stcs(to + at + k, __ldcs(from + at + k));
    }
}
