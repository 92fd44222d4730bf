#!/usr/bin/env node
// Draws a still of a trace, or of what has no trace, as an SVG file of its own.

import {readFileSync} from "node:fs";
import {pathToFileURL} from "node:url";
import {schedules} from "./schedules.js";
import {TraceError, findMoment, tracesFromText} from "./trace.js";
import {views} from "./views.js";

const usage = `usage: node draw.js TRACE.json --view VIEW [--moment MOMENT] [--OPTION VALUE]...
       node draw.js --schedule ${Object.keys(schedules).join("|")} [--width W]
VIEW is one of ${Object.keys(views).join(", ")}.
MOMENT is the number of an event, "end", or line=17,interval=4[,kind=shared_load][,warp=0][,nth=2]; without it "end".
OPTION is width, font, word, thread, warp, by, finding, turns, levelHeight, buffer, loads.`;

/** Draws one picture of a trace as a file of its own. Options: view, moment, and those of the view. */
export function drawStill(trace, {view, moment = "end", ...options}) {
  if (!Object.hasOwn(views, view))
    throw new TraceError(`no view ${view}: there are ${Object.keys(views).join(", ")}.`);
  return `${views[view](trace, findMoment(trace, moment), {...options, still: true})}\n`;
}

/** Draws what has no trace: the sums of step 00, and the schedule of step 11, which runs on GPUs only. */
export function drawSchedule(name, options = {}) {
  if (!Object.hasOwn(schedules, name))
    throw new TraceError(`no schedule ${name}: there are ${Object.keys(schedules).join(", ")}.`);
  return `${schedules[name]({...options, still: true})}\n`;
}

function parseArguments(list) {
  const options = {};
  let file;
  for (let k = 0; k < list.length; ++k) {
    if (!list[k].startsWith("--")) {
      if (file !== undefined) throw new TraceError(`${list[k]}: one trace at a time.`);
      file = list[k];
      continue;
    }
    const key = list[k].slice(2);
    if (!["view", "moment", "schedule", "width", "font", "word", "thread", "warp", "by", "finding", "turns",
          "levelHeight", "buffer", "loads"]
             .includes(key))
      throw new TraceError(`--${key}: no such option.\n${usage}`);
    const value = list[++k];
    if (value === undefined) throw new TraceError(`--${key} needs a value.`);
    const isText = ["view", "moment", "schedule", "by"].includes(key);
    if (!isText && !/^\d+(\.\d+)?$/.test(value))
      throw new TraceError(`--${key} ${value}: it takes a number.`);
    options[key] = isText ? value : Number(value);
  }
  return {file, options};
}

function main(list) {
  if (list.includes("--help")) {
    console.log(usage);
    return 0;
  }
  try {
    const {file, options: {schedule, ...options}} = parseArguments(list);
    if (schedule !== undefined)
      process.stdout.write(drawSchedule(schedule, options));
    else if (file === undefined || options.view === undefined)
      throw new TraceError(usage);
    else
      process.stdout.write(drawStill(tracesFromText(readFileSync(file, "utf8"), file)[0], options));
    return 0;
  } catch (error) {
    if (!(error instanceof TraceError) && error.code === undefined) throw error;
    console.error(error.message);
    return 2;
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href)
  process.exitCode = main(process.argv.slice(2));
