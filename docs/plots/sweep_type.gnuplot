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

set style fill solid noborder
set boxwidth 0.8 / bars
set xrange [0.5 : words(types) + 0.5]
set xtics scale 0
set for [k = 1:words(types)] xtics add (word(types, k) k)
# The panels stand below each other.
set lmargin at screen 0.09
set rmargin at screen 0.68

set multiplot layout panels, 1
do for [card = 1:cards] {
  set title sprintf('%s: %s elements (%s)', card_name[card], sweep_type_input, measured[card]) noenhanced
  call 'bandwidth_axis.gnuplot' card
  plot for [step in sweep_type_steps] table(card, 'sweep_type') using (at(step, strcol(2))):(of_step(step, $6)) \
         with boxes linetype style(step) title step

  call 'time_axis.gnuplot'
  plot for [step in sweep_type_steps] table(card, 'sweep_type') using (at(step, strcol(2))):(of_step(step, $5)) \
         with boxes linetype style(step) title step
}
unset multiplot
