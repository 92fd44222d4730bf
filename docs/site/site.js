// What a page of the site does beyond Doxygen's: search, the switch of the scheme, contents, and buttons that copy code.

"use strict";

document.addEventListener("DOMContentLoaded", () => {
  addContents();
  DoxygenAwesomeFragmentCopyButton.init();
  DoxygenAwesomeInteractiveToc.init();
  document.getElementById("scheme").addEventListener("click", () => {
    DoxygenAwesomeDarkModeToggle.userPreference = !DoxygenAwesomeDarkModeToggle.userPreference;
  });
  addSearch(document.getElementById("words"), document.getElementById("found"));
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

function addSearch(words, found) {
  let index;
  const show = async () => {
    await load("lunr.js");
    await load("search.js");
    await load("search_index.js");
    index ??= lunr.Index.load(SEARCH.index);
    const pages = search.find(lunr, index, SEARCH.sections, words.value).slice(0, 10);
    const links = pages.map(({ link, title, heading, text }) => element("a", { href: link },
      element("b", {}, title), ...(heading === title ? [] : [` · ${heading}`]), element("small", {}, text)));
    found.replaceChildren(...(links.length > 0 ? links : ["No page has these words."]));
    found.hidden = words.value.trim() === "";
  };
  words.addEventListener("input", show);
  words.addEventListener("focus", () => words.value && show());
  words.addEventListener("keydown", (event) => {
    if (event.key === "Enter") show().then(() => found.querySelector("a")?.click());
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") found.hidden = true;
    if (event.key === "/" && !event.target.closest("input, textarea")) {
      event.preventDefault();
      words.focus();
    }
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("#titlearea") || event.target.closest("#found a")) found.hidden = true;
  });
}
