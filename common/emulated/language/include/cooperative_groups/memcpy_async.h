#error "memcpy_async is not modelled on the emulated device: copy by plain loads and stores"
