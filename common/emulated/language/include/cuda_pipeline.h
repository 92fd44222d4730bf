#error "<cuda_pipeline.h>: asynchronous copies are not modelled on the emulated device: copy by plain loads and stores, and use __syncthreads()"
