#error "<thrust/device_vector.h>: Thrust is not modelled on the emulated device: allocate with cudaMalloc() and launch a kernel"
