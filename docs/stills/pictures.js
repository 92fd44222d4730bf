// The pictures of the pages: the explorer's, a finding's, and what has no trace.

import {modelOf} from "../../common/explorer/trace.js";
import {view, views} from "../../common/explorer/views.js";

import {drawFinding} from "./finding.js";
import {drawRows} from "./rows.js";
import {schedules} from "./schedules.js";

/** Finds a moment: a number, or the first that fulfils conditions such as "line=17,interval=4,kind=shared_load". */
export function findMoment(trace, wanted) {
  if (Number.isInteger(wanted)) return wanted;
  const conditions = wanted.split(",").map((part) => part.split("="));
  const {intervalOf} = modelOf(trace);
  const found = trace.events.findIndex(
      (event, index) => conditions.every(
          ([key, value]) => String(key === "interval" ? intervalOf[index] : event[key]) === value));
  if (found < 0) throw new Error(`moment ${wanted}: the trace has no such event`);
  return found;
}

/** The pictures of a trace: the explorer's, and a finding's. */
export const pictures = {
  ...views,
  finding: view(drawFinding)
};

/** Draws one picture of a trace as a file of its own. Options: view, moment, and those of the view. */
export const drawStill = (trace, {view: name, moment = trace.events.length - 1, ...options}) =>
    `${pictures[name](trace, findMoment(trace, moment), {...options, still: true})}\n`;

/** Draws what has no trace as a file of its own. */
export const drawSchedule = (name) =>
    `${view((trace, moment, options) => drawRows(schedules[name], options))(null, 0, {still: true})}\n`;
