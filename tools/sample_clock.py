"""Times what a library of Python queues on its stream as common/harness/cuda_device.cu times a step: the device is held
until all of a sample is queued, and two events enclose it, behind empty kernels."""

import ctypes

# As the steps, when they are told no other number (common/harness/timing_method.hpp).
LEAD_IN = 8
L2_SIZES_FLUSHED = 2
# For any GPU that the steps run on: the driver compiles it. `hold` waits for the host to write `sample` to `words`, but
# for half a second at most: where the library itself waits for the device, the host would never come to it. Then it
# writes `sample` to the second word.
KERNELS = b"""
.version 6.3
.target sm_75
.address_size 64

.visible .entry lead_in() { ret; }

.visible .entry hold(.param .u64 words, .param .u32 sample) {
  .reg .u64 %address, %began, %now;
  .reg .u32 %sample, %queued;
  .reg .pred %done, %early;
  ld.param.u64 %address, [words];
  ld.param.u32 %sample, [sample];
  mov.u64 %began, %globaltimer;
wait:
  ld.volatile.u32 %queued, [%address];
  setp.eq.u32 %done, %queued, %sample;
  @%done ret;
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %began;
  setp.lt.u64 %early, %now, 500000000;
  @%early bra wait;
  st.volatile.u32 [%address+4], %sample;
  ret;
}
"""
MAPPED = 2  # CU_MEMHOSTALLOC_DEVICEMAP


class SampleClock:
    """For the first GPU, in the context that all libraries share. A call that fails throws RuntimeError."""

    def __init__(self) -> None:
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.context, self.started, self.stopped, self.lead_in, self.hold = (ctypes.c_void_p() for _ in range(5))
        self.address = ctypes.c_void_p()  # of `words`, for the device
        device, module, words = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.call("cuCtxSetCurrent", self.context)
        self.call("cuModuleLoadData", ctypes.byref(module), KERNELS)
        self.call("cuModuleGetFunction", ctypes.byref(self.lead_in), module, b"lead_in")
        self.call("cuModuleGetFunction", ctypes.byref(self.hold), module, b"hold")
        for event in (self.started, self.stopped):
            self.call("cuEventCreate", ctypes.byref(event), 0)
        self.call("cuMemHostAlloc", ctypes.byref(words), ctypes.c_size_t(8), MAPPED)
        self.call("cuMemHostGetDevicePointer_v2", ctypes.byref(self.address), words, 0)
        self.words = (ctypes.c_uint32 * 2).from_address(words.value or 0)
        self.words[0] = self.words[1] = 0
        self.sample = 0

    def call(self, function: str, *arguments: object) -> None:
        if status := getattr(self.driver, function)(*arguments):
            raise RuntimeError(f"{function}: CUDA error {status}")

    def launch(self, kernel: ctypes.c_void_p, stream: int, parameters: object = None) -> None:
        """With one thread."""
        self.call("cuLaunchKernel", kernel, 1, 1, 1, 1, 1, 1, 0, ctypes.c_void_p(stream), parameters, None)

    def start(self, stream: int) -> None:
        # A library may queue its work from a thread of its own.
        self.call("cuCtxSetCurrent", self.context)
        self.sample += 1
        sample = ctypes.c_uint32(self.sample)
        self.launch(self.hold, stream, (ctypes.c_void_p * 2)(ctypes.addressof(self.address), ctypes.addressof(sample)))
        for _ in range(LEAD_IN):
            self.launch(self.lead_in, stream)
        self.call("cuEventRecord", self.started, ctypes.c_void_p(stream))

    def stop(self, stream: int) -> None:
        self.call("cuEventRecord", self.stopped, ctypes.c_void_p(stream))
        self.words[0] = self.sample

    def ms(self) -> float | None:
        """Waits for the sample. None if the device did not wait until it was queued."""
        ms = ctypes.c_float()
        self.call("cuEventSynchronize", self.stopped)
        self.call("cuEventElapsedTime", ctypes.byref(ms), self.started, self.stopped)
        return None if self.words[1] == self.sample else ms.value
