#error "<cooperative_groups/scan.h>: scans are not modelled on the emulated device: write them with shfl_up"
