// What a program does meanwhile: a kernel that reads, computes and writes. loop.ptx.inc is made from this by
// nvcc -ptx (version and target lowered as in src/device/kernels.sh).
extern "C" __global__ void mend_bench_loop(float *a, unsigned long long n, int rounds)
{
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (unsigned long long)gridDim.x * blockDim.x) {
        float x = a[i];
        for (int r = 0; r < rounds; r++)
            x = x * 0.999f + 0.001f;
        a[i] = x;
    }
}

// Changes one byte in every `step`-th page.
extern "C" __global__ void mend_bench_touch(unsigned char *a, unsigned long long pages, int step)
{
    unsigned long long i = ((unsigned long long)blockIdx.x * blockDim.x + threadIdx.x) * step;
    if (i < pages)
        a[i * 4096 + 17] += 1;
}
