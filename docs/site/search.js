// The search over the pages' words, by lunr. Node makes the index when the site is built (tools/search.py), and a page of
// the site asks it (site.js).

"use strict";

const search = (() => {
  // The parts of a section, and what a word in them weighs.
  const FIELDS = { heading: 8, title: 4, text: 1 };

  // What to look for in `words`. Names in code are words, too: __shfl_down_sync has three.
  const tokens = (lunr, words) => {
    lunr.tokenizer.separator = /[^\p{L}\p{N}]+/u;
    return lunr.tokenizer(words).filter((token) => token.toString() !== "");
  };

  // An index of sections, each with a page, a link, and the fields.
  const makeIndex = (lunr, sections) => {
    tokens(lunr, "");
    return lunr(function () {
      this.ref("number");
      Object.entries(FIELDS).forEach(([field, boost]) => this.field(field, { boost }));
      sections.forEach((section, number) => this.add({ number, ...section }));
    });
  };

  // The pages that have these words, best first, each by its best section. The last word may go on.
  const find = (lunr, index, sections, words) => {
    const asked = tokens(lunr, words);
    if (asked.length === 0) return [];
    const hits = index.query((query) => {
      asked.forEach((token) => query.term(token.toString(), { boost: 10 }));
      const last = asked[asked.length - 1].toString();
      if (last.length > 2) query.term(last, { boost: 1, usePipeline: false, wildcard: lunr.Query.wildcard.TRAILING });
    });
    const pages = new Map();
    for (const { ref, score, matchData } of hits) {
      const section = sections[Number(ref)];
      const page = pages.get(section.page) ?? { ...section, score: 0, share: 1, words: 0 };
      // The best section counts most, the others less and less.
      page.score += score * page.share * section.weight;
      page.share /= 1.5;
      page.words = Math.max(page.words, Object.keys(matchData.metadata).length);
      pages.set(section.page, page);
    }
    // All the words in one section are better than one of them often; and the best section, such as that of the glossary,
    // links to where its matter is explained.
    const linked = new Set(hits.length > 0 ? sections[Number(hits[0].ref)].links : []);
    const rank = ({ page, score, words }) => score * words * (linked.has(page) ? 1.25 : 1);
    return [...pages.values()].sort((one, other) => rank(other) - rank(one));
  };

  return { makeIndex, find };
})();

if (typeof module !== "undefined") module.exports = search;
