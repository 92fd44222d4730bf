# The y axis of a panel with times, after one with bandwidths.

set ylabel 'ms'
set yrange [0 : *]
unset y2label
unset y2tics
unset arrow 1
unset label 1
set border 3
