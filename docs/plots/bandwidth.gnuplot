# Bandwidth against the number of elements, a panel for each card.
#
#   gnuplot -c bandwidth.gnuplot DATA FIGURE.svg

data = ARG1
load data . '/cards.gnuplot'
call 'style.gnuplot' cards
set output ARG2

set logscale x 2
set xlabel 'elements (2^k)' noenhanced
set format x '2^{%L}'
set key invert

set multiplot layout cards, 1
do for [card = 1:cards] {
  set title sprintf('%s: %s (%s)', card_name[card], sweep_size_input, measured[card]) noenhanced
  call 'bandwidth_axis.gnuplot' card
  plot for [step in sweep_size_steps] table(card, 'sweep_size') using 3:(of_step(step, $6)) \
         with linespoints linetype style(step) title step
}
unset multiplot
