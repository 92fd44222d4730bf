#error "scans of groups are not modelled on the emulated device: write them with shfl_up"
