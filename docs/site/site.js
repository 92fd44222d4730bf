// What a page of the site does beyond Doxygen's: search, the switch of the scheme, the menu, buttons that copy code.

"use strict";

document.addEventListener("DOMContentLoaded", () => {
  DoxygenAwesomeFragmentCopyButton.init();
  // Beside the text there is room for the list of what is on the page.
  const contents = document.querySelector("#contents details");
  if (contents) contents.open = matchMedia("(min-width: 1200px)").matches;
  document.querySelector("#pages [aria-current]")?.scrollIntoView({ block: "nearest" });
  const menu = document.getElementById("menu");
  menu.addEventListener("click", () => menu.setAttribute("aria-expanded", menu.getAttribute("aria-expanded") !== "true"));
  document.getElementById("scheme").addEventListener("click", () => {
    DoxygenAwesomeDarkModeToggle.userPreference = !DoxygenAwesomeDarkModeToggle.userPreference;
  });
  addSearch(...["words", "found", "count"].map((id) => document.getElementById(id)));
  // Below their pictures is something to drag.
  if (/(01_interleaved|02_nondivergent|03_sequential|columns_without_padding)\.html$/.test(location.pathname))
    load("dragged.js");
  addEventListener("scroll", markSection, { passive: true });
  for (const first of [markSection, nameCopyButtons, reachByKeyboard]) addEventListener("load", first);
  addEventListener("resize", reachByKeyboard);
  document.addEventListener("toggle", reachByKeyboard, true);
});

// In the list of what is on the page, the section that is read is marked.
function markSection() {
  const links = [...document.querySelectorAll("#contents a")];
  const read = links.findLastIndex(({ hash }) =>
    document.getElementById(decodeURIComponent(hash.slice(1))).getBoundingClientRect().top < innerHeight / 3);
  links.forEach((link, k) => link.setAttribute("aria-current", k === Math.max(read, 0)));
}

// The theme's buttons that copy code are for a mouse alone.
function nameCopyButtons() {
  document.querySelectorAll("doxygen-awesome-fragment-copy-button").forEach((button) => {
    Object.assign(button, { ariaLabel: "Copy", role: "button", tabIndex: 0 });
    button.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      button.click();
    });
  });
}

// Code and tables that are wider than the page scroll: the keyboard reaches them.
function reachByKeyboard() {
  document.querySelectorAll(".contents .fragment, .contents table, .contents tbody, .memproto").forEach((wide) => {
    const scrolls = wide.scrollWidth > wide.clientWidth;
    wide.classList.toggle("wide", scrolls);
    if (scrolls) wide.tabIndex = 0;
    else wide.removeAttribute("tabindex");
  });
}

const element = (name, properties, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

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
      const isInside = event.target.closest("#titlearea");
      if (!isInside || kind === "click" && event.target.closest("#found a")) found.hidden = true;
    });
  }
}
