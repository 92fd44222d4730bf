#error "<mma.h>: wmma, the tensor cores, is not modelled on the emulated device: write the product as a loop"
