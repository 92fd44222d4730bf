# Bandwidth against the threads per block, a panel for each card. A library chooses its own block: a level line.
#
#   gnuplot -c sweep_block.gnuplot DATA FIGURE.svg

data = ARG1
load data . '/cards.gnuplot'
call 'style.gnuplot' cards
set output ARG2

set logscale x 2
set xlabel 'threads per block'
set xrange [28 : 1170]
set xtics (32, 64, 128, 256, 512, 1024)
set key invert

set multiplot layout cards, 1
do for [card = 1:cards] {
  set title sprintf('%s: %s (%s)', card_name[card], sweep_block_input, measured[card]) noenhanced
  call 'bandwidth_axis.gnuplot' card
  plot for [step in libraries] table(card, 'sweep_block') using (32):(of_step(step, $6)):(992):(0) \
         with vectors nohead linetype style(step) notitle, \
       for [step in sweep_block_steps] table(card, 'sweep_block') using 4:(of_step(step, $6)) \
         with linespoints linetype style(step) title step
}
unset multiplot
