// What a reader can drag below a picture: the requests of a step at a stride, or of a pitfall with a padding.

import {bankCount, servedParts, warpSize} from "../../common/explorer/trace.js";
import {views} from "../../common/explorer/views.js";
import {plural} from "../../common/explorer/words.js";

const powers = (first, end) => Array.from({length: Math.log2(end / first)}, (_, k) => first * 2 ** k);

const stride = ({block}) => powers(1, block);
const block = () => powers(32, 2048);

/**
 * By picture: the values of each parameter, where it begins, as in the picture above if that is of one request, the word that
 * thread `tid` asks for, if it does, and the view, if not of the banks.
 */
export const dragged = {
  "01_interleaved": {
    view: "lanes",
    parameters: {stride},
    first: {stride: 1, block: 64},
    word: (tid, {stride}) => tid % (2 * stride) === 0 ? tid : undefined,
  },
  "02_nondivergent": {
    parameters: {stride, block},
    first: {stride: 16, block: 256},
    word: (tid, {block, stride}) => 2 * stride * tid < block ? 2 * stride * tid : undefined,
  },
  "03_sequential": {
    parameters: {stride, block},
    first: {stride: 16, block: 256},
    word: (tid, {stride}) => tid < stride ? tid : undefined,
  },
  columns_without_padding: {
    parameters: {padding: () => [0, 1, 2, 3, 4]},
    first: {padding: 0},
    word: (tid, {padding}) => tid * (32 + padding),
  },
};

/** A trace of these requests alone: one for each warp with a thread that asks. */
export function traceOfRequests(name, values) {
  const {block = warpSize} = values;
  const events = [];
  for (let warp = 0; warp < block / warpSize; ++warp) {
    const asked =
        Array.from({length: warpSize}, (_, lane) => dragged[name].word(warp * warpSize + lane, values));
    const words = asked.filter((word) => word !== undefined);
    const lanes = asked.reduce((mask, word, lane) => (word === undefined ? mask : mask | 1 << lane), 0) >>> 0;
    const event = {kind: "shared_load", warp, lanes, bytes: 4, words, values: words};
    const [part] = servedParts(event);
    if (part)
      events.push({...event, wavefronts: part.wavefronts.length, conflicts: part.wavefronts.length - 1});
  }
  const launch = {block: [block, 1, 1], grid: [1, 1, 1]}, counters = {};
  return {type: "int32", kernel: name, launch, block: 0, sources: [], buffers: [], findings: [], counters, events};
}

/** The picture of one of them, as a still, and what they take, in words: all warps that take part ask alike. */
export function drawRequests(name, values) {
  const trace = traceOfRequests(name, values);
  const {view = "access"} = dragged[name];
  const [{words, wavefronts}] = trace.events;
  const stateOf = (_, tid) => (dragged[name].word(tid, values) === undefined ? "idle" : "active");
  const states = Array.from({length: trace.launch.block[0]}, stateOf);
  const where = trace.events.length > 1 ? ` in each of ${trace.events.length} warps` : "";
  const banks = new Set(words.map((word) => word % bankCount)).size;
  const what = view === "lanes" ?
      `${words.length} of 32 lanes${where} at work` :
      `${plural(words.length, "lane")}${where} ${words.length === 1 ? "asks" : "ask"} for ${
          plural(banks, "bank")}: ${plural(wavefronts, "wavefront")}`;
  return {
    svg: views[view](trace, 0, {still: true, columns: banks > 16 ? 8 : 16, rows: 4, states}),
    text: `${Object.entries(values).map((each) => each.join(" ")).join(", ")}: ${what}`
  };
}
