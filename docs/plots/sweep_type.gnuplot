# Bandwidth and time for each element type, a group of bars a type: two panels for each card.
#
#   gnuplot -c sweep_type.gnuplot DATA FIGURE.svg

data = ARG1
load data . '/cards.gnuplot'
panels = 2 * cards
call 'style.gnuplot' panels
set output ARG2

bars = words(sweep_type_steps)
at(step, type) = position(types, type) + (position(sweep_type_steps, step) - 0.5 - 0.5 * bars) * 0.84 / bars

set style fill noborder
set boxwidth 0.8 / bars
set xrange [0.5 : words(types) + 0.5]
set xtics scale 0
set for [k = 1:words(types)] xtics add (word(types, k) k)
# The panels stand below each other, so that a type's bars do. On their right is room for the axis and the legend.
set lmargin at screen 0.09
set rmargin at screen 1 - (165 + 8.6 * longest(sweep_type_steps, bars)) / 960

# Bars have no points to tell steps of the same colour apart: from the tenth on they are hatched. Pattern 3 is solid.
fill(step) = is_library(step) || style(step) <= 9 ? 3 : 4

set multiplot layout panels, 1
do for [card = 1:cards] {
  set title sprintf('%s: %s elements (%s)', card_name[card], sweep_type_input, measured[card]) noenhanced
  call 'bandwidth_axis.gnuplot' card
  plot for [step in sweep_type_steps] table(card, 'sweep_type') using (at(step, strcol(2))):(of_step(step, $6)) \
         with boxes linetype style(step) fillstyle pattern fill(step) title step

  call 'time_axis.gnuplot'
  plot for [step in sweep_type_steps] table(card, 'sweep_type') using (at(step, strcol(2))):(of_step(step, $5)) \
         with boxes linetype style(step) fillstyle pattern fill(step) title step
}
unset multiplot
