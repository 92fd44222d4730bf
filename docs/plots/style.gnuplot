# What all plots share: size, legend and colours. Each figure reads it after cards.gnuplot, with the number of its
# panels, one below the other:
#
#   call 'style.gnuplot' PANELS

set encoding utf8
# A panel is as high as its legend, a line for each step, and at least 460.
line_height = 21
panel_height = line_height * words(sweep_size_steps) + 210
panel_height = panel_height < 460 ? 460 : panel_height
set terminal svg size 960, panel_height * int(ARG1) enhanced rounded background 'white' font 'sans-serif,14'
set datafile separator tab

set border 3 linecolor rgb '#444444'
set grid ytics linetype 1 linecolor rgb '#dddddd' linewidth 0.5
set tics out nomirror
set style textbox opaque noborder fillcolor 'white' margins 0.3, 0.1
set key outside right center vertical maxcols 1 Left reverse samplen 2 noenhanced

# A step keeps its style in all figures. The number in its name chooses one of nine colours (Paul Tol's "muted") and one
# of five shapes of its points: 45 steps differ. Libraries are black and grey, dashed and hollow.
colours = '#332288 #cc6677 #44aa99 #ddaa33 #882255 #88ccee #117733 #aa4499 #999933'
shapes = '5 7 9 11 13'
do for [k = 1:45] {
  set linetype k linecolor rgb word(colours, (k - 1) % 9 + 1) pointtype int(word(shapes, (k - 1) % 5 + 1)) \
    linewidth 2 pointsize 0.7
}
greys = '#000000 #777777 #aaaaaa'
do for [k = 1:15] {
  set linetype 100 + k linecolor rgb word(greys, (k - 1) % 3 + 1) pointtype 4 + 2 * ((k - 1) % 5) dashtype 2 \
    linewidth 2 pointsize 0.7
}

# Where `item` stands in `list`, from 1; 0 where it does not.
position(list, item) = sum [k = 1:words(list)] (word(list, k) eq item ? k : 0)

longest(list, count) = count == 0 ? 0 : \
  strlen(word(list, count)) > longest(list, count - 1) ? strlen(word(list, count)) : longest(list, count - 1)

is_library(step) = position(libraries, step) > 0
style(step) = is_library(step) ? 100 + position(libraries, step) : 10 * step[1:1] + step[2:2] + 1

# The value in the rows of this step, nothing in others.
of_step(step, value) = strcol(1) eq step ? value : NaN

table(card, name) = sprintf('%s/%d/%s.tsv', data, card, name)
