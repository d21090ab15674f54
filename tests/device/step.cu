// What on_device.c does in a step, on the device.
extern "C" __global__ void step(unsigned long long *words, unsigned long long count, unsigned long long next)
{
    for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        words[i] = (words[i] ^ (words[i] >> 29)) * 0xbf58476d1ce4e5b9ull + next;
}
