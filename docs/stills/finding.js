// A finding over time: what its threads do with the word that it is about, and which value is wrong.

import {bufferOf, lanesIn, modelOf, originOf, originText, sharedAt, warpSize} from "../../common/explorer/trace.js";
import {ranges, valueText, witnessText, wordText} from "../../common/explorer/words.js";

import {drawRows} from "./rows.js";

const verbs = {
  load: "reads",
  store: "writes",
  atomic: "updates",
  exit: "leaves",
  barrier: "passes __syncwarp()"
};

/** What each active lane of an event does: [{index, thread, verb, word, value, line}]. */
function accessesOf(trace, index) {
  const event = trace.events[index];
  const {kind, line} = event;
  const verb = verbs[kind.split("_").at(-1)] ?? kind;
  return lanesIn(event.lanes ?? 0).map((lane, k) => {
    const word = event.words && [kind.split("_")[0], bufferOf(event, k), event.words[k]].join();
    return {index, thread: event.warp * warpSize + lane, verb, word, value: event.values?.[k], line};
  });
}

/** The value that a word would have if all had happened in the order of the trace: the sum of its origin. */
function meantOf(trace, node, value) {
  if (!node || !originOf(node).exact || originOf(node).copied) return value;
  const values = new Map(modelOf(trace).leaves.map((leaf) => [`${leaf.buffer}:${leaf.first}`, leaf.value]));
  const terms =
      originOf(node).elements.map(([buffer, element, times]) => times * values.get(`${buffer}:${element}`));
  return terms.every(Number.isFinite) ? terms.reduce((sum, term) => sum + term, 0) : value;
}

/**
 * Steps in the order in which they happened. A trace has the order that is meant, so: each thread does one after the other, a
 * read gets what is there, and the access that met with the race (the first witness) follows the other.
 */
function asHappened(steps, isWitness) {
  const [left, ordered] = [[...steps], []];
  let value;
  while (left.length > 0) {
    const next = left.filter((step, k) => left.findIndex(({who}) => who === step.who) === k);
    const fits = next.filter(
        (step) => (step.verb !== "reads" || value === undefined || step.value === value) &&
            !(step.who === 0 && isWitness(step) && left.some((each) => each.who === 1 && isWitness(each))));
    const step = fits.find(({verb}) => value !== undefined && verb === "reads") ?? fits[0] ?? next[0];
    ({value} = step);
    ordered.push(...left.splice(left.indexOf(step), 1));
  }
  return ordered;
}

/**
 * The steps of the witnesses' first threads, over time: all accesses to a race's word since it was last written before the
 * race, or the last three of each.
 */
function stepsOf(trace, {witnesses}) {
  const here = witnesses.map((each) => (each.block === trace.block ? each.threads[0] : -1));
  const last = Math.max(...witnesses.filter((_, k) => here[k] >= 0).map(({event}) => event ?? -1));
  const wordOf = ({event}, k) =>
      trace.events[event] && accessesOf(trace, event).find(({thread}) => thread === here[k])?.word;
  const word = witnesses.map(wordOf).find(Boolean);
  const steps = trace.events.slice(0, word === undefined ? undefined : last + 1)
                    .flatMap((_, index) => accessesOf(trace, index))
                    .map((access) => ({...access, who: here.indexOf(access.thread)}))
                    .filter((step) => step.who >= 0 && (word === undefined || step.word === word));
  const isLate = (step) => steps.filter(({who}) => who === step.who).slice(-3).includes(step);
  if (word === undefined) return {steps: steps.filter(isLate)};
  const isWitness = ({who, index}) => index === witnesses[who].event;
  const ordered = asHappened(steps, isWitness);
  const before = ordered.slice(0, ordered.findIndex(isWitness));
  return {word, steps: ordered.slice(Math.max(0, before.findLastIndex(({verb}) => verb !== "reads")))};
}

/** What a race does to the value, in a sentence. Wrong values are marked; of what happens too late, the end is kept. */
function outcomeOf(trace, {witnesses}, steps) {
  const seen = witnesses.map(({event}, k) => steps.find(({who, index}) => who === k && index === event));
  const writes = witnesses.map(
      ({action}, k) => /^write/.test(action) || steps.some(({who, verb}) => who === k && verb === "writes"));
  if (writes[0] && writes[1]) {
    const [read, later] = steps.filter(({verb}) => verb === "reads");
    if (later)
      return `${"AB"[later.who]} comes second, and reads ${later.value}. Had it read ${
          read.value}, too, one addition would be lost.`;
    if (read) return `Each adds to what it has read. If both read ${read.value}, one addition is lost.`;
    const [first, second] = steps;
    return `The last to write wins. Here ${second?.value ?? first.value} is left${
        second ? `, the other way round ${first.value}` : ", or what the other block writes"}.`;
  }
  const reader = writes[0] ? 1 : 0;
  const [read, written] = [seen[reader], seen[1 - reader]];
  const [name, other] = reader ? ["B", "A"] : ["A", "B"];
  if (!read) return `${name} reads ${written.value}, or what was there before.`;
  const {node} = sharedAt(trace, read.index - 1).find(({word}) => read.word === `shared,,${word}`) ?? {};
  const meant = meantOf(trace, node, read.value);
  if (meant === read.value)
    return `${name} reads ${read.value}, as it should. After ${other} it would read ${written.value}.`;
  read.isWrong = true;
  const should = `it should read ${meant}, from ${originText(trace, node)}.`;
  const [now, then] = [read.index, node.event].map((at) => steps.findIndex(({index}) => index === at));
  if (then < now)
    return `${name} reads ${read.value}, too late: before ${other} writes ${written.value}, ${should}`;
  const value = steps[then].value;
  if (then - now > 3) steps.splice(now + 1, then - now - 1, {who: 1 - reader, said: "…", kind: ""});
  return `${name} reads ${read.value}, too early: after ${other} has written, ${should}${
      value === meant ? "" : ` ${other} has ${value} there, as it has read too early, too.`}`;
}

/** The threads of a finding side by side, from top to bottom what they do, between them the word, and what is missing. */
export function drawFinding(trace, moment, options) {
  const finding = trace.findings[options.finding ?? 0];
  if (!finding) return "The emulated device has found nothing in this run.";
  const {witnesses} = finding;
  const {word, steps} = stepsOf(trace, finding);
  const outcome = word !== undefined && witnesses.length === 2 ? outcomeOf(trace, finding, steps) : "";
  witnesses.forEach((witness, who) => {
    if (witness.block === trace.block && Number.isInteger(witness.event)) return;
    const said = witnessText(trace, finding, who).replace(/^block \S+ threads? \S+ /, "");
    steps.push(
        {who, index: trace.events.length, said, line: witness.line, isWrong: witness.block === trace.block});
  });
  const name = word === undefined ? null : (wordText(finding) ?? ["the word"])[0];
  const columns = witnesses.map((_, k) => k);
  if (name && columns.length > 1) columns.splice(1, 0, "word");
  const cellOf = (step, column) => {
    if (column === "word")
      return step.value === undefined ? ["", 2.6, ""] : [valueText(step.value), 2.6, "track"];
    if (step.who !== column) return ["", 4, ""];
    const text = step.said ?? `${step.verb}${step.value === undefined ? "" : ` ${valueText(step.value)}`}`;
    const kind = step.isWrong ? "conflict" : step.index === witnesses[column].event ? "active" : "cell";
    return [`${text}${step.line > 0 ? `\nline ${step.line}` : ""}`, 4, step.kind ?? kind];
  };
  const heading = (column) => {
    if (column === "word") return [name, 2.6, "", "bold"];
    const {block, threads} = witnesses[column];
    const who = `${threads.length > 1 ? "threads" : "thread"} ${ranges([...threads].sort((a, b) => a - b))}`;
    return [
      `${"ABCDEFGH"[column]}: ${block === trace.block ? "" : `block ${block},\n`}${who}`, 4, "", "bold"
    ];
  };
  const rows = steps.map((step) => ({cells: columns.map((column) => cellOf(step, column))}));
  const help = (finding.help ?? "").replace(/^./, (letter) => letter.toUpperCase()).replaceAll("`", "");
  const title = `${finding.kind} in ${trace.kernel}`;
  return drawRows(
      {
        title: `Finding: ${title}`,
        description: [finding.text, outcome].filter(Boolean).join(". "),
        rows: [
          {name: `${title}, ${name ? "as it happened" : "from top to bottom"}`, cells: []},
          {cells: columns.map(heading)}, ...rows,
          ...[outcome, help].filter(Boolean).map((text) => ({cells: [[text, 1, "", "warntext bold"]]}))
        ]
      },
      options);
}
