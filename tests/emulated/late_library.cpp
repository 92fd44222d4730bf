/// What limits_test loads after the emulated device's first launch.
extern "C" {
extern const unsigned late_table[4] = {2, 3, 5, 7};
unsigned late_sums[4] = {};
}
