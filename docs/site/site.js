// What a page of the site does beyond Doxygen's: search, the switch of the scheme, contents, and buttons that copy code.

"use strict";

document.addEventListener("DOMContentLoaded", () => {
  addContents();
  DoxygenAwesomeFragmentCopyButton.init();
  DoxygenAwesomeInteractiveToc.init();
  document.getElementById("scheme").addEventListener("click", () => {
    DoxygenAwesomeDarkModeToggle.userPreference = !DoxygenAwesomeDarkModeToggle.userPreference;
  });
  addSearch(...["words", "found", "count"].map((id) => document.getElementById(id)));
  // Below their pictures is something to drag.
  if (/(01_interleaved|02_nondivergent|03_sequential|columns_without_padding)\.html$/.test(location.pathname))
    load("dragged.js");
  addEventListener("load", reachByKeyboard);
  addEventListener("resize", reachByKeyboard);
  document.addEventListener("toggle", reachByKeyboard, true);
});

// Code and tables that are wider than the page scroll: the keyboard reaches them.
function reachByKeyboard() {
  document.querySelectorAll(".contents .fragment, .contents table, .contents tbody, .memproto").forEach((wide) => {
    if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
    else wide.removeAttribute("tabindex");
  });
}

const element = (name, properties, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

// What is on the page, beside a page with some headings.
function addContents() {
  const headings = [...document.querySelectorAll(".textblock > h1")].map((heading) => ({
    text: heading.textContent,
    anchor: heading.previousElementSibling?.querySelector("a.anchor")?.id,
  })).filter(({ anchor }) => anchor);
  if (headings.length < 3) return;
  const items = headings.map(({ text, anchor }) =>
    element("li", { className: "level1" }, element("a", { href: `#${anchor}` }, text)));
  const contents = element("div", { className: "toc", role: "navigation", ariaLabel: "On this page" },
    element("h3", {}, "On this page"), element("ul", {}, ...items));
  document.querySelector(".contents").prepend(contents);
}

// ---- search ----

// The index comes with the first word: it is as long as all pages.
const loaded = {};
const load = (script) => loaded[script] ??= new Promise((done) =>
  document.head.append(element("script", { src: script, onload: done })));

// Up and down go through what is found, Enter opens it, Escape closes it. A screen reader is told how many there are.
function addSearch(words, found, count) {
  let index;
  const show = async () => {
    await load("lunr.js");
    await load("search.js");
    await load("search_index.js");
    index ??= lunr.Index.load(SEARCH.index);
    const { pages, isAsked } = search.find(lunr, index, SEARCH, words.value);
    const marked = (text) =>
      search.pieces(text, isAsked).map(([piece, asked]) => asked ? element("mark", {}, piece) : piece);
    const links = pages.map(({ link, title, heading, text }) => element("a", { href: link },
      element("b", {}, ...marked(title)), ...(heading === title ? [] : [" · ", ...marked(heading)]),
      element("small", {}, ...marked(text))));
    found.replaceChildren(...(links.length > 0 ? links : ["No page has these words."]));
    found.hidden = words.value.trim() === "";
    count.textContent = found.hidden ? "" : `${links.length} found`;
  };
  words.addEventListener("input", show);
  words.addEventListener("click", show);
  words.addEventListener("keydown", (event) => {
    if (event.key === "Enter") show().then(() => found.querySelector("a")?.click());
  });
  words.closest("header").addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const stops = [words, ...found.querySelectorAll("a")];
    if (found.hidden) show();
    else stops[stops.indexOf(document.activeElement) + by]?.focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (found.contains(document.activeElement)) words.focus();
      found.hidden = true;
    }
    if (event.key === "/" && !event.target.closest("input, textarea")) {
      event.preventDefault();
      words.focus();
    }
  });
  for (const kind of ["click", "focusin"]) {
    document.addEventListener(kind, (event) => {
      if (!event.target.closest("#titlearea") || kind === "click" && event.target.closest("#found a")) found.hidden = true;
    });
  }
}
