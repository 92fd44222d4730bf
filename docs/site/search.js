// The search over the pages' words, by lunr. Node makes the index when the site is built (tools/search.py), and a page
// of the site asks it (site.js).

"use strict";

const search = (() => {
  // The parts of a section, and what a word in them weighs.
  const FIELDS = { heading: 8, title: 4, bold: 6, text: 1 };
  const PAGES = 10;  // that are found
  const EXCERPT = 220;  // letters of a section that are shown, so many of them before the first word that was asked for
  const BEFORE = 80;
  // Names in code are words, too: __shfl_down_sync has three.
  const WORD = /([\p{L}\p{N}]+)/u;

  const wordsOf = (text) => text.toLowerCase().split(WORD).filter((_, k) => k % 2 === 1);

  // An index of sections, each with a page, a link, and the fields.
  const makeIndex = (lunr, sections) => {
    lunr.tokenizer.separator = /[^\p{L}\p{N}]+/u;
    return lunr(function () {
      this.ref("number");
      Object.entries(FIELDS).forEach(([field, boost]) => this.field(field, { boost }));
      sections.forEach((section, number) => this.add({ ...section, number }));
    });
  };

  // In the two words that it is written together of, where there are such.
  const apart = (word, isKnown) => {
    const at = [...word].findIndex((_, at) => at > 2 && isKnown(word.slice(0, at)) && isKnown(word.slice(at)));
    return at < 0 ? [word] : [word.slice(0, at), word.slice(at)];
  };

  // The pages that have these words, best first, each by its best section, and which words were asked for.
  // Synonyms lead from readers' words to those of the pages.
  const find = (lunr, index, { sections, synonyms }, text) => {
    const stem = (word) => index.pipeline.runString(word)[0];
    const isKnown = (word) => stem(word) in index.invertedIndex;
    const isBegun = (word) => Object.keys(index.invertedIndex).some((term) => term.startsWith(word));
    const words = wordsOf(text).filter((word) => lunr.stopWordFilter(word))
      .flatMap((word) => isKnown(word) || isBegun(word) ? [word] : apart(word, isKnown));
    const line = (words) => ` ${words.map(stem).join(" ")} `;
    const asked = [...new Set(Object.entries(synonyms).reduce((question, [said, meant]) =>
      question.replaceAll(line(wordsOf(said)), line(wordsOf(meant))), line(words)).split(" ").filter(Boolean))];
    const last = words[words.length - 1] ?? "";
    const goesOn = last.length > 2;
    const isAsked = (word) => asked.includes(stem(word.toLowerCase())) || goesOn && word.toLowerCase().startsWith(last);
    if (asked.length === 0) return { pages: [], isAsked };
    const found = index.query((query) => {
      asked.forEach((term) => query.term(term, { boost: 10, usePipeline: false }));
      if (goesOn) query.term(last, { boost: 1, usePipeline: false, wildcard: lunr.Query.wildcard.TRAILING });
    });
    const hits = found.map(({ ref, score, matchData }) => {
      const terms = Object.keys(matchData.metadata);
      const has = (token) => terms.some((term) => term === token || token === stem(last) && term.startsWith(last));
      return { section: sections[ref], score, terms: asked.filter(has) };
    });
    // All the words in one section are better than one of them often, and a word that few sections have says more.
    const rarity = Object.fromEntries(asked.map((token) => {
      const having = hits.filter(({ terms }) => terms.includes(token)).length;
      return [token, having && Math.log(1 + sections.length / having)];
    }));
    const sum = (tokens) => tokens.reduce((all, token) => all + rarity[token], 0);
    const wanted = [...asked].sort().join();
    for (const hit of hits) {
      // A heading that is what was asked for is that of its definition, or of its page.
      const isIt = wordsOf(hit.section.heading).map(stem).sort().join() === wanted;
      hit.rank = hit.score * hit.section.weight * (sum(hit.terms) / sum(asked)) ** 3 * (isIt ? 2.5 : 1);
    }
    hits.sort((one, other) => other.rank - one.rank);
    const pages = new Map();
    for (const { section, rank } of hits) if (!pages.has(section.page)) pages.set(section.page, { ...section, rank });
    // The best section, such as that of the glossary, links to where its matter is explained.
    for (const link of hits[0]?.section.links ?? []) if (pages.has(link)) pages.get(link).rank *= 1.5;
    const best = [...pages.values()].sort((one, other) => other.rank - one.rank).slice(0, PAGES);
    return { pages: best.map((page) => ({ ...page, text: excerpt(page.text, isAsked) })), isAsked };
  };

  // The part of a text with the most of the words that were asked for.
  const excerpt = (text, isAsked) => {
    const words = [...text.matchAll(new RegExp(WORD, "gu"))].filter(([word]) => isAsked(word));
    const near = ({ index }) => new Set(words.filter((word) =>
      word.index >= index && word.index < index + EXCERPT - BEFORE).map(([word]) => word.toLowerCase())).size;
    const first = words.reduce((best, word) => near(word) > near(best) ? word : best, words[0])?.index ?? 0;
    const begin = first < BEFORE ? 0 : text.indexOf(" ", first - BEFORE) + 1;
    const rest = text.slice(begin);
    const end = rest.length <= EXCERPT ? rest.length : rest.lastIndexOf(" ", EXCERPT);
    return `${begin > 0 ? "… " : ""}${rest.slice(0, end)}${end < rest.length ? " …" : ""}`;
  };

  // A text in pieces, each with whether it is a word that was asked for.
  const pieces = (text, isAsked) => text.split(WORD).map((piece, k) => [piece, k % 2 === 1 && isAsked(piece)]);

  return { makeIndex, find, pieces };
})();

if (typeof module !== "undefined") module.exports = search;
