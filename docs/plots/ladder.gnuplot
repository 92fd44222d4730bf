# The ladder, a bar for each step: one card in GB/s with its peak, several side by side in shares of their peaks.
#
#   gnuplot -c ladder.gnuplot DATA FIGURE.svg

data = ARG1
load data . '/cards.gnuplot'
call 'style.gnuplot' 1
set output ARG2

at(step, card) = position(ladder_steps, step) + (card - 0.5 - 0.5 * cards) * 0.84 / cards
height(card, gbps) = cards == 1 ? gbps : gbps / peak_gbps[card] * 100
shown(height) = sprintf(height < 99.5 && cards == 1 ? '%.3g' : '%.0f', height)

set style fill solid noborder
set boxwidth 0.8 / cards
set xrange [0.4 : words(ladder_steps) + 0.6]
set xtics rotate by -35 noenhanced scale 0
set for [k = 1:words(ladder_steps)] xtics add (word(ladder_steps, k) k)

if (cards == 1) {
  set title sprintf('%s: %s (%s)', card_name[1], ladder_input, measured[1]) noenhanced
  call 'bandwidth_axis.gnuplot' 1
  unset key
} else {
  set title sprintf('Shares of the peak: %s', ladder_input) noenhanced
  set ylabel '% of the card''s own peak'
  set yrange [0 : 112]
  set ytics 0, 20, 100
  set key outside bottom center horizontal
}

plot for [card = 1:cards] table(card, 'ladder') using (at(strcol(1), card)):(height(card, $6)) \
       with boxes linetype card title sprintf('%s, peak %.4g GB/s', card_name[card], peak_gbps[card]), \
     for [card = 1:cards] table(card, 'ladder') \
       using (at(strcol(1), card)):(height(card, $6)):(shown(height(card, $6))) \
       with labels boxed offset 0, 0.6 font ',11' notitle
