// Boxes with words in rows, and arrows between them: what most pictures without a trace are made of.

import {label, line, path, rectangle, segment, wrapText} from "../../common/explorer/svg.js";
import {textLines} from "../../common/explorer/views.js";

// What a cell has in the place of a box: a barrier below its words, or nothing.
const isLine = (kind) => kind.endsWith("barrier");
const inks = {
  active: "on",
  conflict: "onwarn"
};

/** From one point to another, with a tip at the second. */
function arrowTo([x1, y1], [x2, y2]) {
  const angle = Math.atan2(y2 - y1, x2 - x1);
  const tip = (turn) => segment(x2, y2, x2 - 7 * Math.cos(angle + turn), y2 - 7 * Math.sin(angle + turn));
  return segment(x1, y1, x2, y2) + tip(0.45) + tip(-0.45);
}

/**
 * Rows from top to bottom, each {cells, name (above it), gap (before it, in lines)}. A cell is [words, how wide, kind, classes
 * of its words], an arrow [row, cell, row, cell]; `zooms` are of the same form, and lead from a cell to the whole of a row.
 */
export function drawRows({rows, arrows = [], zooms = [], title, description}, {width, font: type}) {
  const [font, size] = [type * 0.935, type * 0.89];
  let [y, body] = [0, ""];
  const placed = rows.map(({name = "", cells, gap = 0.5}, k) => {
    const begin = y + font * (gap + (name === "" ? 0 : 0.3));
    const heading = textLines(name, 0, begin + font, width, font);
    y = begin + heading.height;
    const unit = width / cells.reduce((sum, [, wide = 1]) => sum + wide, 0);
    let right = 0;
    const boxes = cells.map(([words, wide = 1, kind = "cell", classes = ""]) => {
      const x = right;
      right += wide * unit;
      const columns =
          Math.max(1, Math.floor((wide * unit - 6) / (size * (/mono|bold/.test(classes) ? 0.61 : 0.54))));
      return {
        x,
        right,
        kind,
        classes: `${classes} ${inks[kind] ?? ""}`.trim(),
        lines: words.split("\n").flatMap((each) => wrapText(each, columns))
      };
    });
    const high =
        boxes.length === 0 ? 0 : Math.max(...boxes.map(({lines}) => lines.length)) * size * 1.25 + font * 0.7;
    const [top, bottom] = [y, y + high];
    if (name !== "") body += heading.svg;
    for (const {x, right: end, kind, classes, lines} of boxes) {
      if (isLine(kind))
        body += line(x, bottom - 2, end, bottom - 2, kind);
      else if (kind !== "")
        body += rectangle(x + 1.5, top, end - x - 3, high, kind);
      const first = (top + bottom) / 2 + size * (0.36 - (lines.length - 1) * 0.625);
      body +=
          lines
              .map(
                  (each, at) => label((x + end) / 2, first + at * size * 1.25, size, each, classes, "middle"))
              .join("");
    }
    y = bottom;
    return boxes.map((box) => ({...box, begin, top, bottom}));
  });
  const middle = ({x, right}) => (x + right) / 2;
  const drawn = arrows.map(([row, cell, otherRow, otherCell]) => {
    const [from, to] = [placed[row][cell], placed[otherRow][otherCell]];
    if (row < otherRow) return arrowTo([middle(from), from.bottom + 1], [middle(to), to.begin - 2]);
    // In one row below the words that stand between the two.
    const level = from.bottom - font * 0.3;
    return from.x < to.x ? arrowTo([from.right + 1, level], [to.x - 1, level]) :
                           arrowTo([from.x - 1, level], [to.right + 1, level]);
  });
  const opened = zooms.map(([row, cell, otherRow]) => {
    const [from, to] = [placed[row][cell], placed[otherRow][0]];
    return segment(from.x + 2, from.bottom, 1, to.begin) +
        segment(from.right - 2, from.bottom, width - 1, to.begin);
  });
  return {
    height: y + font * 0.3,
    body: path(opened.join(""), "edge") + body + path(drawn.join(""), "now"),
    title,
    description
  };
}
