# The y axis of a panel: GB/s on its left, the share of the card's peak on its right, and a line at the peak.
#
#   call 'bandwidth_axis.gnuplot' CARD

set ylabel 'GB/s'
set yrange [0 : 1.12 * peak_gbps[int(ARG1)]]
set y2label '% of the peak'
set y2range [0 : 112]
set y2tics 0, 20, 100
set border 11

set arrow 1 nohead from graph 0, second 100 to graph 1, second 100 dashtype 3 linewidth 1.5 linecolor rgb '#b00000'
set label 1 sprintf('peak %.4g GB/s', peak_gbps[int(ARG1)]) at graph 0.01, second 100 offset 0, 0.6 left boxed front \
  noenhanced textcolor rgb '#b00000'
