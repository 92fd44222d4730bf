#!/usr/bin/env node
// Makes the traces of stills.js afresh, and draws the pictures of the pages from them and from schedules.js.
//
//   node docs/stills/draw_stills.js [--check] [--bin FOLDER]
//
// --check only names what is stale. The programs are in FOLDER, build/bin by default.
// Exit code: 0 all up to date, 1 something is stale (with --check only), 2 bad usage or a program that fails.

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { drawSchedule, drawStill } from "./pictures.js";
import { schedules } from "./schedules.js";
import { tracesFromText } from "../../common/explorer/trace.js";
import { stills } from "./stills.js";

const folder = dirname(fileURLToPath(import.meta.url));

class Failure extends Error {}

function readOptions(list) {
  const options = { check: false, bin: join(folder, "../../build/bin") };
  for (let k = 0; k < list.length; ++k) {
    if (list[k] === "--check") options.check = true;
    else if (list[k] === "--bin" && k + 1 < list.length) options.bin = resolve(list[++k]);
    else throw new Failure("usage: node docs/stills/draw_stills.js [--check] [--bin FOLDER]");
  }
  return options;
}

/**
 * The trace of a program's run. A pitfall ends with 1, because that is what it is for. Which variables are known depends on
 * the compiler, so they are left out.
 */
function traceOf([program, ...options], bin, scratch) {
  const file = join(scratch, "trace.json");
  try {
    const inRepository = { cwd: join(folder, "../.."), stdio: ["ignore", "ignore", "pipe"] };
    execFileSync(join(bin, program), [...options, "--trace", file], inRepository);
  } catch (error) {
    if (program !== "emulate" || error.status !== 1)
      throw new Failure(`${join(bin, program)} ${options.join(" ")}: ${error.stderr?.toString().trim() || error.message}`);
  }
  return readFileSync(file, "utf8").replace(/,"variables":\[.*\](?=\},?$)/gm, "");
}

/** The same trace with its first events only, as a trace that holds no more. */
function shortened(text, events) {
  const lines = text.split("\n");
  const first = lines.indexOf(' "events": [') + 1;
  const kept = lines.slice(0, first + events);
  kept[kept.length - 1] = kept[kept.length - 1].replace(/,$/, "");
  const witnesses = /"event":(\d+)/g;
  return `${kept.join("\n")}\n ]\n}\n`.replace('"truncated": false', '"truncated": true')
    .replace(witnesses, (witness, event) => (Number(event) < events ? witness : '"event":null'));
}

/** Writes a file where its text is new, or says that it is stale. Returns whether it was. */
function put(name, text, check) {
  const file = join(folder, name);
  if (existsSync(file) && readFileSync(file, "utf8") === text) return false;
  if (!check) writeFileSync(file, text);
  console.log(check ? `docs/stills/${name} is stale: run node docs/stills/draw_stills.js` : `docs/stills/${name} is new`);
  return true;
}

function main(list) {
  const { check, bin } = readOptions(list);
  const scratch = mkdtempSync(join(tmpdir(), "stills-"));
  let stale = 0;
  try {
    for (const name of Object.keys(schedules)) stale += put(`${name}.svg`, drawSchedule(name), check);
    for (const { name, run, events, ...options } of stills) {
      const whole = traceOf(run, bin, scratch);
      const text = events === undefined ? whole : shortened(whole, events);
      stale += put(`${name}.json`, text, check);
      if (options.view) stale += put(`${name}.svg`, drawStill(tracesFromText(text, name)[0], options), check);
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
  return check && stale > 0 ? 1 : 0;
}

try {
  process.exitCode = main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  console.error(`draw_stills.js: error: ${error.message}`);
  process.exitCode = 2;
}
