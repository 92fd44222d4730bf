#error "<cub/cub.cuh>: CUB is not modelled on the emulated device: write what the kernel needs of it"
