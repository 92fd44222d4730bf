// The page: draws the traces that it holds, and steps through them. The only module with a DOM.

import {escapeText, pictureStyle} from "./svg.js";
import {costOf, counterKeys, countersAt, modelOf, stepsInStep, TraceError, tracesFromText} from "./trace.js";
import {tallest, views} from "./views.js";
import {endOf, glossary, letterOf, momentOfFindings, momentOfWitness, momentText, placeOf, runText, spotOf, strayText, tallyText, variablesText, whenText, witnessText} from "./words.js";

const find = (id) => document.getElementById(id);
let tips = 0;

/** A word that explains itself when it is pointed at or has the focus. */
function termHtml(term) {
  const id = `tip-${++tips}`;
  return `<span class="tip"><button type="button" class="term" aria-describedby="${id}">${
             escapeText(term)}</button>` +
      `<span role="tooltip" id="${id}">${escapeText(glossary[term])}</span></span>`;
}

const panels = [
  {view: "lanes", title: "Warps × lanes", terms: ["warp"]},
  {view: "access", title: "This access", terms: ["request", "bank", "wavefront", "bank conflict", "sector"]},
  {view: "tree", title: "The tree of additions", terms: ["origin", "interval"]},
  {view: "activity", title: "Who takes part in each level", terms: []},
  {view: "memory", title: "Shared memory, word by word", folded: true},
  {view: "path", title: "The lines that this warp executes", folded: true},
];

/** The page's state: one or two traces, the steps through them, and where we are. */
const state = {
  traces: [],
  own: null,  // the one that was here before a second one was opened
  letter: 0,  // of the witness to which the finding's button goes next
  conflicts: [],
  worst: 0,
  steps: [],
  at: 0,
  asked: null,  // a line that a finding names: {number (of the trace), line}
  timer: null,
  address: null
};

/** Whether a fault ended the block, or the launch, before the block did anything. */
const isEmpty = (trace) => trace.events.length === 0;

function paneHtml(trace, number) {
  const id = (name) => `${name}-${number}`;
  const single = state.traces.length === 1;
  const panel = ({view, title, terms = [], folded}) => {
    const body = `<div class="view ${view}" data-view="${view}" data-trace="${number}"></div>${
        view === "access" ? '<p class="stray"></p>' : ""}`;
    if (folded) return `<details><summary>${escapeText(title)}</summary>${body}</details>`;
    const words = terms.length > 0 ? `<p class="terms">${terms.map(termHtml).join(" · ")}</p>` : "";
    const whose = single ? "" : ` <span>${escapeText(trace.program)}</span>`;
    return `<section aria-labelledby="${id(view)}"><div class="head"><h3 id="${id(view)}">${
        escapeText(title)}${whose}</h3>${words}</div>${body}</section>`;
  };
  const source = trace.sources[modelOf(trace).kernelSource];
  const letters = new Map();
  trace.findings.forEach((finding) => finding.witnesses.forEach((witness, k) => {
    if (witness.source !== modelOf(trace).kernelSource) return;
    const known = letters.get(witness.line) ?? new Set();
    letters.set(witness.line, known.add(letterOf(k)));
  }));
  const lines = (source?.lines ?? [])
                    .map((text, k) => {
                      const marks =
                          [...(letters.get(k + 1) ?? [])]
                              .map((letter) => `<b title="thread ${letter} of the finding">${letter}</b>`)
                              .join("");
                      return `<li data-line="${k + 1}"><i></i><span>${k + 1}</span><code>${escapeText(text)}${
                          marks}</code></li>`;
                    })
                    .join("");
  const code = lines === "" ?
      `<p class="muted">The source could not be read: ${escapeText(source?.file ?? "no file")}.</p>` :
      `<div class="source" tabindex="0" role="region" aria-label="Source of ${
          escapeText(source.file)}"><ol class="code">${lines}</ol></div>`;
  const counters = single ? `<section class="counted" aria-labelledby="${id("counters")}"><h3 id="${
                                id("counters")}">Counters</h3><div class="counters"></div></section>` :
                            "";
  const drawnOf = (...names) => panels.filter(({view}) => names.includes(view)).map(panel).join("");
  const sourceHtml =
      `<section aria-labelledby="${id("source")}"><h3 id="${id("source")}"><code>${
          escapeText(trace.kernel)}</code> in ${escapeText(source?.file ?? "an unknown file")}</h3>${code}` +
      `<p class="of-line"></p></section>`;
  // Side by side, what differs most comes first.
  const columns = isEmpty(trace) ?
      `<div class="column">${sourceHtml}</div>` :
      single ?
      `<div class="column">${sourceHtml}${counters}${drawnOf("memory", "path")}</div><div class="column">${
          drawnOf("lanes", "access", "tree", "activity")}</div>` :
      `<div class="column">${drawnOf("access")}${sourceHtml}${
          drawnOf("lanes", "tree", "activity", "memory", "path")}</div>`;
  return `<article class="pane" data-trace="${number}" aria-label="${escapeText(trace.program)}">` +
      `<h2>${escapeText(trace.program)}: ${escapeText(trace.title ?? "")}<span>${
             escapeText(runText(trace))}</span></h2><p class="tally"></p>${columns}</article>`;
}

/** Help as a sentence, its code in code's font. */
function helpHtml(text) {
  const sentence = text.replace(/^./, (first) => first.toUpperCase()).replace(/[^.]$/, "$&.");
  return escapeText(sentence).replace(/`([^`]+)`/g, "<code>$1</code>");
}

/** The name of a page of the repository: a link where this page is on the site, which says how to get to its root. */
function pageHtml(name) {
  const code = `<code>${escapeText(name)}</code>`;
  const {site} = document.body.dataset;
  const file = `${name.replace(/(\/README)?\.md$/, "").replace(/\W/g, "_")}.html`;
  return site === undefined ? code : `<a href="${escapeText(site + file)}">${code}</a>`;
}

/** Where in the trace a witness is, in words. */
function whereText(trace, finding, k) {
  const {block, event} = finding.witnesses[k];
  if (block !== trace.block)
    return `this trace is of block ${trace.block}; --trace-block ${trace.launch.number}:${
        block} has the other`;
  if (!Number.isInteger(event)) return "after the last event";
  const where = `event ${event + 1}, ${whenText(trace, event)}`;
  const events = finding.witnesses.map((each) => (each.block === trace.block ? each.event : null));
  if (events.length < 2 || !events.every(Number.isInteger)) return where;
  return `${where}: ${
      event === Math.min(...events)     ? "first in this trace" :
          event === Math.max(...events) ? "last in this trace" :
                                          "in between"}`;
}

function findingsHtml() {
  return state.traces
      .flatMap((trace, number) => trace.findings.map((finding) => {
        const witnesses =
            finding.witnesses
                .map((witness, k) => {
                  const place = placeOf(trace, witness).outer;
                  const event = momentOfWitness(trace, witness);
                  const letter = letterOf(k);
                  const line = place && witness.source === modelOf(trace).kernelSource ? place.line : null;
                  const go = event === null && line === null ?
                      "" :
                      `<button type="button" data-in="${number}"${
                          event === null ? "" : ` data-go="${event}"`}${
                          line === null ? "" : ` data-line="${line}"`} aria-label="Go to where ${letter} ${
                          escapeText(witness.action)}">go there</button>`;
                  const code = place ? ` at ${escapeText(place.file)}:${place.line}: <code>${
                                           escapeText(place.text.trim())}</code>` :
                                       "";
                  return `<li><b>${letter}</b><span>${escapeText(witnessText(trace, finding, k))}${
                      code} <span class="muted">(${escapeText(whereText(trace, finding, k))})</span></span>${
                      go}</li>`;
                })
                .join("");
        const help = finding.help ? `<p class="missing">${helpHtml(finding.help)}</p>` : "";
        const page = finding.page ? `<p class="muted">More about it: ${pageHtml(finding.page)}</p>` : "";
        const ordered = finding.kind === "race" && finding.witnesses.length > 1 ?
            `<p class="muted">Nothing orders them: on a GPU they can come in either order.</p>` :
            "";
        const whose = state.traces.length > 1 ? `${escapeText(trace.program)}: ` : "";
        return `<div class="finding"><h3>${whose}${escapeText(finding.kind)} in <code>${
                   escapeText(trace.kernel)}</code></h3>` +
            `<ul>${witnesses}</ul>${ordered}${help}${page}</div>`;
      }))
      .join("");
}

function countersHtml(moments) {
  const named = (key) =>
      key.replaceAll("_", " ").replace(/^(shared|global) (load|store) conflicts$/, "$1 $2 bank conflicts");
  const now = state.traces.map((trace, k) => countersAt(trace, moments[k]));
  const before =
      state.traces.map((trace, k) => (moments[k] > 0 ? countersAt(trace, moments[k] - 1) : now[k]));
  const keys = [...new Set(state.traces.flatMap(counterKeys))].filter(
      (key) => state.traces.some((trace) => trace.counters[key] > 0));
  const two = state.traces.length > 1;
  const head = state.traces
                   .map(
                       (trace) => `<th scope="col">${
                           two ? `${escapeText(trace.program)} ` :
                                 ""}so far</th><th scope="col">${two ? "" : "whole "}block</th>`)
                   .join("");
  const rows =
      keys.map((key) => {
            const changed = now.some((counters, k) => counters[key] !== before[k][key]);
            const cells =
                state.traces
                    .map(
                        (trace, k) =>
                            `<td class="now">${(now[k][key] ?? 0).toLocaleString("en")}</td><td class="total">${
                                Number(trace.counters[key] ?? 0).toLocaleString("en")}</td>`)
                    .join("");
            return `<tr${changed ? ' class="changed"' : ""}><th scope="row">${named(key)}</th>${cells}</tr>`;
          })
          .join("");
  return `<table><caption>What this block has done up to this moment; ▸ marks what this event adds.</caption><thead><tr><th scope="col">counter</th>${
      head}</tr></thead><tbody>${rows}</tbody></table>`;
}

const momentsAt = (at) => state.steps[at];

/** What is below an element stays in its place while one steps: it has the room of the highest that it shows. */
function keepRoom(element, html, height = 0) {
  element.style.minHeight = "";
  element.innerHTML = html;
  element.style.minHeight = `${Math.ceil(Math.max(height, element.getBoundingClientRect().height))}px`;
}

function drawView(holder, moments) {
  const details = holder.closest("details");
  if (details && !details.open) return;
  const {trace: number, view, room} = holder.dataset;
  const trace = state.traces[number];
  const width = Math.max(280, holder.clientWidth);
  const beside = state.traces.filter((each) => each !== trace);
  const options = {width, font: width < 560 ? 11 : 12, beside};
  const html = (moment) =>
      views[view](trace, moment, options) + (view === "access" ? endHtml(trace, moment) : "");
  if (room !== String(width)) keepRoom(holder, html(trace.events.length - 1), tallest(view, trace, options));
  holder.dataset.room = width;
  holder.innerHTML = html(moments[number]);
}

/** After the last event: what a finding says of those who got no further. */
function endHtml(trace, moment) {
  if (moment < trace.events.length - 1) return "";
  return endOf(trace)
      .map(
          ([k, text]) => `<p class="end"><b>${letterOf(k)}</b> After this: ${
              escapeText(text)}</p>`)
      .join("");
}

/** Scrolls a line into the box of the source. */
function showLine(pane, item) {
  const box = pane.querySelector(".source");
  const top = item.offsetTop - box.offsetTop;
  if (top < box.scrollTop + 20 || top + item.offsetHeight > box.scrollTop + box.clientHeight - 20)
    box.scrollTop = top - box.clientHeight / 2;
}

function drawSource(pane, trace, moment) {
  const event = trace.events[moment];
  pane.querySelectorAll("li[aria-current]").forEach((each) => {
    each.removeAttribute("aria-current");
    each.querySelectorAll("mark").forEach((mark) => mark.replaceWith(...mark.childNodes));
    each.querySelector("code").normalize();
  });
  pane.querySelectorAll("li.asked").forEach((each) => each.classList.remove("asked"));
  const here = event.source === modelOf(trace).kernelSource ?
      pane.querySelector(`li[data-line="${event.line}"]`) :
      null;
  if (here) {
    here.setAttribute("aria-current", "true");
    const text = here.querySelector("code").firstChild;
    const spot = text && spotOf(text.data, event.column);
    if (spot) {
      const range = document.createRange();
      range.setStart(text, spot[0]);
      range.setEnd(text, Math.min(spot[1], text.length));
      range.surroundContents(document.createElement("mark"));
    }
    showLine(pane, here);
  }
  // The line that a finding names is shown, too, and rather than the event's.
  if (state.asked?.number === state.traces.indexOf(trace)) {
    const named = pane.querySelector(`li[data-line="${state.asked.line}"]`);
    named?.classList.add("asked");
    if (named) showLine(pane, named);
  }
  pane.querySelector(".of-line").innerHTML = ofLineHtml(trace, event);
}

/** What its variables are there, and where in a function that it calls the event is. */
function ofLineHtml(trace, event) {
  const {inner} = placeOf(trace, event);
  const called = inner ? `It is in a function that this line calls, ${escapeText(inner.file)}:${
                             inner.line}: <code>${escapeText(inner.text.trim())}</code>` :
                         "";
  return [escapeText(variablesText(event)), called].filter(Boolean).join("<br>");
}

function momentHtml(moments) {
  return momentTexts(moments).map((text) => `<span>${escapeText(text)}</span>`).join(" ");
}

const momentTexts = (moments) => state.traces.map(
    (trace, k) => (state.traces.length > 1 ? `${trace.program}: ` : "") + momentText(trace, moments[k]));

/** Keeps the room of what is said of each moment. */
function keepRooms() {
  if (state.steps.length === 0) return;
  const longest = (texts) => texts.reduce((a, b) => (b.length > a.length ? b : a), "");
  keepRoom(find("moment"), longest(state.steps.map(momentHtml)));
  const counters = countersHtml(state.steps.at(-1));
  document.querySelectorAll(".counters").forEach((holder) => keepRoom(holder, counters));
  document.querySelectorAll(".pane").forEach((pane) => {
    const trace = state.traces[pane.dataset.trace];
    keepRoom(pane.querySelector(".tally"), escapeText(tallyText(trace, trace.events.length - 1)));
    keepRoom(pane.querySelector(".stray"), longest(trace.events.map((_, at) => escapeText(strayText(trace, at)))));
    keepRoom(pane.querySelector(".of-line"), longest(trace.events.map((event) => ofLineHtml(trace, event))));
  });
}

/** Draws everything at the present step. */
function draw() {
  if (state.steps.length === 0) return;
  const moments = momentsAt(state.at);
  const slider = find("slider");
  slider.max = state.steps.length - 1;
  slider.value = state.at;
  slider.setAttribute("aria-valuetext", momentTexts(moments).join(" "));
  find("moment").innerHTML = momentHtml(moments);
  const width = Math.max(280, find("timeline").clientWidth);
  find("timeline").innerHTML = state.traces
                                   .map((trace, k) => views.timeline(trace, moments[k], {
                                     width,
                                     height: state.traces.length > 1 ? 30 : 40,
                                     steps: state.steps.map((step) => step[k]),
                                     beside: state.traces.filter((each) => each !== trace)
                                   }))
                                   .join("");
  document.querySelectorAll(".pane").forEach((pane) => {
    const number = Number(pane.dataset.trace);
    pane.querySelector(".tally").textContent = tallyText(state.traces[number], moments[number]);
    pane.querySelector(".stray").textContent = strayText(state.traces[number], moments[number]);
    drawSource(pane, state.traces[number], moments[number]);
  });
  document.querySelectorAll("[data-view]").forEach((holder) => drawView(holder, moments));
  const table = countersHtml(moments);
  document.querySelectorAll(".counters").forEach((holder) => {
    holder.innerHTML = table;
  });
  // Browsers count how often a page changes its address: only where it stays a while does it.
  clearTimeout(state.address);
  state.address = setTimeout(() => history.replaceState(null, "", addressOf(moments)), 400);
  find("link").href = addressOf(moments);
  find("link").textContent = "Copy link";
}

/** An address that opens the page at these events, counted as the page does. */
const addressOf = (moments) => `#event=${moments.map((event) => event + 1).join()}`;

/** The step that the address names, or undefined. */
function addressedStep() {
  const events = /^#event=(\d+)(?:,(\d+))?$/.exec(location.hash)?.slice(1);
  if (!events) return undefined;
  const at = state.steps.findIndex((step) => step.every((event, k) => event + 1 >= (events[k] ?? 0)));
  return at < 0 ? state.steps.length - 1 : at;
}

function goTo(at, asked = null) {
  if (state.steps.length === 0) return;
  state.asked = asked;
  state.at = Math.max(0, Math.min(state.steps.length - 1, at));
  draw();
}

const isBarrier = (step) => state.traces.some((trace, k) => trace.events[step[k]].kind === "block_barrier");

/** The step of the next barrier in a direction, or the end there. */
function barrierFrom(at, direction) {
  for (let k = at + direction; k >= 0 && k < state.steps.length; k += direction)
    if (isBarrier(state.steps[k])) return k;
  return direction > 0 ? state.steps.length - 1 : 0;
}

const stepOf = (number, moment) => Math.max(0, state.steps.findIndex((step) => step[number] === moment));

/** Finds the steps to which buttons lead: those at which an event with bank conflicts begins, and the one that costs most. */
function findSteps() {
  const {steps, traces} = state;
  const begins = (at, k) => steps[at][k] !== steps[at - 1]?.[k];
  state.conflicts =
      steps.map((_, at) => at)
          .filter((at) => traces.some(({events}, k) => events[steps[at][k]].conflicts > 0 && begins(at, k)));
  const costs = steps.map((step) => Math.max(...traces.map(({events}, k) => costOf(events[step[k]]))));
  const most = costs.reduce((a, b) => Math.max(a, b), 0);
  state.worst = costs.indexOf(most);
  find("conflict").hidden = state.conflicts.length === 0;
  find("worst").hidden = most === 0;
}

function setPlaying(playing) {
  clearInterval(state.timer);
  state.timer = null;
  const button = find("play");
  button.textContent = playing ? "Pause" : "Play";
  // While it plays, a screen reader would only stammer.
  find("moment").setAttribute("aria-live", playing ? "off" : "polite");
  if (!playing) return;
  if (state.at === state.steps.length - 1) goTo(0);
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  state.timer = setInterval(() => {
    if (state.at >= state.steps.length - 1)
      setPlaying(false);
    else
      goTo(state.at + 1);
  }, calm ? 1500 : 400);
}

function showProblem(text) {
  const problem = find("problem");
  problem.textContent = text;
  problem.hidden = text === "";
}

/** Shows one trace, or two in step: the earlier step of the ladder left, whichever was here first. */
function show(traces, keep) {
  const event = keep ? momentsAt(state.at)?.[state.traces.indexOf(state.own)] : undefined;
  setPlaying(false);
  Object.assign(state, {own: traces[0], letter: 0});
  state.traces = traces.slice(0, traces.slice(0, 2).some(isEmpty) ? 1 : 2);
  const [first, second] = state.traces.map(({program}) => parseInt(program, 10));
  if (second < first) state.traces.reverse();
  const [a, b] = state.traces;
  state.steps = b ? stepsInStep(a, b) : a.events.map((_, k) => [k]);
  const title = b ? `${a.program} beside ${b.program}` : `${a.program}: ${a.title ?? ""}`;
  document.title = `${title} · trace`;
  find("title").textContent = title;
  find("run").textContent = b ?
      "Two traces in step: interval by interval, and within an interval by the share that is done." :
      `${a.kernel}, ${runText(a)}${
          isEmpty(a)      ? ". A fault came before anything that the block did" :
              a.truncated ? ". The block did more than the trace holds: its beginning is here" :
                            ""}`;
  find("controls").hidden = find("marks").hidden = isEmpty(a);
  find("panes").className = b ? "two" : "one";
  find("panes").innerHTML = state.traces.map(paneHtml).join("");
  const findings = findingsHtml();
  find("findings").hidden = findings === "";
  find("findings-list").innerHTML = findings;
  find("both").hidden = !b;
  find("close").hidden = !b;
  document.querySelectorAll(".pane details").forEach((details) => details.addEventListener("toggle", draw));
  keepRooms();
  const marked = document.querySelector(".source li:has(b)");
  if (isEmpty(a) && marked) showLine(marked.closest(".pane"), marked);
  if (isEmpty(a)) return;
  findSteps();
  const number = Math.max(0, state.traces.findIndex((trace) => trace.findings.length > 0));
  const opened = state.traces[number];
  const named = opened.findings[0]?.witnesses.find(
      (each) => each.line > 0 && each.source === modelOf(opened).kernelSource);
  const isSeen = Number.isInteger(named?.event) && named.block === opened.block;
  state.asked = event === undefined && named && !isSeen ? {number, line: named.line} : null;
  state.at = event !== undefined ? stepOf(state.traces.indexOf(state.own), event) :
      opened.findings.length > 0 ? stepOf(number, momentOfFindings(opened)) :
                                   state.worst;
  find("found").hidden = !document.querySelector("#findings [data-in]");
  const [{kind} = {kind: ""}] = opened.findings;
  find("found").textContent = `The ${kind.replace(/^out of/, "access out of")}`;
}

async function openSecond(file) {
  try {
    const [trace] = tracesFromText(await file.text(), file.name);
    for (const [each, name] of [[state.own, "The trace of this page"], [trace, file.name]])
      if (each && isEmpty(each)) throw new TraceError(`${name} has no events that could go in step.`);
    showProblem("");
    show([state.own, trace], true);
    draw();
  } catch (error) {
    if (!(error instanceof TraceError)) throw error;
    showProblem(error.message);
  }
}

function onKey(event) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const inControls = find("controls").contains(event.target);
  if (event.key === "Escape" && document.activeElement?.classList.contains("term"))
    document.activeElement.blur();
  if (event.target !== document.body && !inControls) return;
  const shortcut = [...document.querySelectorAll("[aria-keyshortcuts]:not([hidden])")].find(
      (each) => each.getAttribute("aria-keyshortcuts") === event.key.toLowerCase());
  if (shortcut) shortcut.click();
  const onButton = event.target instanceof HTMLButtonElement;
  const moves = {
    ArrowRight: () => goTo(event.shiftKey ? barrierFrom(state.at, 1) : state.at + 1),
    ArrowLeft: () => goTo(event.shiftKey ? barrierFrom(state.at, -1) : state.at - 1),
    Home: () => goTo(0),
    End: () => goTo(state.steps.length - 1),
    ...(inControls ?
            {PageDown: () => goTo(barrierFrom(state.at, 1)), PageUp: () => goTo(barrierFrom(state.at, -1))} :
            {}),
    ...(onButton ? {} : {" ": () => setPlaying(state.timer === null)}),
  };
  if (!Object.hasOwn(moves, event.key)) return;
  event.preventDefault();
  if (event.key !== " ") setPlaying(false);
  moves[event.key]();
}

function start() {
  document.head.append(Object.assign(document.createElement("style"), {textContent: pictureStyle}));
  find("glossary").innerHTML =
      Object.entries(glossary)
          .map(([term, text]) => `<dt>${escapeText(term)}</dt><dd>${escapeText(text)}</dd>`)
          .join("");
  try {
    const traces = tracesFromText(find("traces").textContent, "This page");
    show(traces, false);
    if (traces.length > state.traces.length)
      showProblem("One of the two traces has no events that could go in step: the first one is here.");
  } catch (error) {
    if (!(error instanceof TraceError)) throw error;
    showProblem(error.message);
    return;
  }
  if (addressedStep() !== undefined) Object.assign(state, {at: addressedStep(), asked: null});
  addEventListener("hashchange", () => goTo(addressedStep() ?? state.at));
  const move = (id, to) => find(id).addEventListener("click", () => {
    setPlaying(false);
    goTo(to());
  });
  move("first", () => 0);
  move("before", () => barrierFrom(state.at, -1));
  move("back", () => state.at - 1);
  move("forth", () => state.at + 1);
  move("after", () => barrierFrom(state.at, 1));
  move("last", () => state.steps.length - 1);
  move("conflict", () => state.conflicts.find((at) => at > state.at) ?? state.conflicts[0]);
  move("worst", () => state.worst);
  find("found").addEventListener("click", () => {
    const buttons = document.querySelectorAll("#findings [data-in]");
    buttons[state.letter++ % buttons.length].click();
  });
  find("link").addEventListener("click", async (event) => {
    // Where a page may not copy, the address has the link.
    event.preventDefault();
    history.replaceState(null, "", find("link").href);
    const copied = await navigator.clipboard?.writeText(find("link").href).then(() => true, () => false);
    find("link").textContent = copied ? "Copied" : "See address";
  });
  find("play").addEventListener("click", () => setPlaying(state.timer === null));
  find("slider").addEventListener("input", () => {
    setPlaying(false);
    goTo(Number(find("slider").value));
  });
  find("findings").addEventListener("click", (event) => {
    const button = event.target.closest("[data-in]");
    if (!button) return;
    const {in : trace, go, line} = button.dataset;
    const number = Number(trace);
    setPlaying(false);
    goTo(
        go === undefined ? state.at : state.steps.findIndex((step) => step[number] === Number(go)),
        line === undefined ? null : {number, line: Number(line)});
    if (line !== undefined)
      document.querySelector(`.pane[data-trace="${number}"] .source`).scrollIntoView({block: "nearest"});
  });
  find("file").addEventListener("change", (event) => {
    if (event.target.files[0]) openSecond(event.target.files[0]);
    event.target.value = "";
  });
  find("close").addEventListener("click", () => {
    show([state.own], true);
    draw();
    find("file").focus();
  });
  document.addEventListener("keydown", onKey);
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  document.addEventListener("dragleave", () => document.body.classList.remove("dropping"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    if (event.dataTransfer.files[0]) openSecond(event.dataTransfer.files[0]);
  });
  let width = 0;
  new ResizeObserver(() => {
    if (find("main").clientWidth === width) return;
    width = find("main").clientWidth;
    keepRooms();
    draw();
  }).observe(find("main"));
}

start();
