// The pictures of schedules.txt, which has their form.

import {readFileSync} from "node:fs";

// Of a cell's first letter: its kind, and the classes of its words.
const marks = {
  "#": ["active"],
  "=": ["track"],
  "!": ["conflict"],
  ".": [""],
  "*": ["", "bold"],
  "-": ["warpbarrier", "mono"],
};

function cellOf(text) {
  const [, mark, words, wide = 1] = /^([#=!.*-]?)(.*?)(?: \*([\d.]+))?$/.exec(text.trim());
  return [words.replaceAll("\\n", "\n"), Number(wide), ...(marks[mark] ?? ["cell"])];
}

function pictureOf(text) {
  const [heading, description, ...lines] = text.trim().split("\n");
  const [, name, title] = /^(\w+): (.*)$/.exec(heading);
  const picture = {title, description, rows: [], arrows: [], zooms: []};
  const places = (line) => line.slice(2).split(" ").map((each) => each.split(/[.-]/).map(Number));
  let above = {};
  for (const line of lines) {
    if (line.startsWith("|")) {
      picture.rows.push({...above, cells: line === "|" ? [] : line.slice(1).split("|").map(cellOf)});
      above = {};
    } else if (line.startsWith(">"))
      picture.arrows.push(...places(line));
    else if (line.startsWith("<"))
      picture.zooms.push(...places(line));
    else {
      const [, gap = 0.5, words] = /^(?:\+([\d.]+) ?)?(.*)$/.exec(line);
      above = {gap: Number(gap), name: words};
    }
  }
  return [name, picture];
}

const file = readFileSync(new URL("schedules.txt", import.meta.url), "utf8");

/** What each picture is of: rows.js has the form. */
export const schedules = Object.fromEntries(file.split("\n== ").slice(1).map(pictureOf));
