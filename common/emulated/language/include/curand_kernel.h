#error "<curand_kernel.h>: cuRAND is not modelled on the emulated device: let the host draw the numbers, or write a generator"
