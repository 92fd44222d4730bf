// The search over the pages' words, by lunr. Node makes the index when the site is built (tools/search.py), and a page
// of the site asks it (site.js).

"use strict";

const search = (() => {
  // The parts of a section, and what a word in them weighs.
  const FIELDS = { heading: 8, title: 4, bold: 6, text: 1 };

  // What to look for in `words`, without those that no section is about, such as "the". Names in code are words, too:
  // __shfl_down_sync has three.
  const tokens = (lunr, words) => {
    lunr.tokenizer.separator = /[^\p{L}\p{N}]+/u;
    return lunr.tokenizer(words).map(String).filter((token) => token !== "" && lunr.stopWordFilter(token));
  };

  // An index of sections, each with a page, a link, and the fields. A heading that many pages have, such as "Predict",
  // says nothing about one of them.
  const makeIndex = (lunr, sections) => {
    tokens(lunr, "");
    const pages = {};
    for (const { heading } of sections) pages[heading] = (pages[heading] ?? 0) + 1;
    return lunr(function () {
      this.ref("number");
      Object.entries(FIELDS).forEach(([field, boost]) => this.field(field, { boost }));
      sections.forEach((section, number) =>
        this.add({ ...section, number, heading: pages[section.heading] > 3 ? "" : section.heading }));
    });
  };

  // The pages that have these words, best first, each by its best section. The last word may go on.
  const find = (lunr, index, sections, words) => {
    const asked = [...new Set(tokens(lunr, words))];
    if (asked.length === 0) return [];
    const last = asked[asked.length - 1];
    const goesOn = last.length > 2;
    const stem = (token) => index.pipeline.runString(token)[0];
    const wanted = asked.map(stem).sort().join();
    const found = index.query((query) => {
      asked.forEach((token) => query.term(token, { boost: 10 }));
      if (goesOn) query.term(last, { boost: 1, usePipeline: false, wildcard: lunr.Query.wildcard.TRAILING });
    });
    const hits = found.map(({ ref, score, matchData }) => {
      const terms = Object.keys(matchData.metadata);
      const has = (token) => terms.includes(stem(token))
        || goesOn && token === last && terms.some((term) => term.startsWith(last));
      return { section: sections[ref], score, words: asked.filter(has) };
    });
    // All the words in one section are better than one of them often, and a word that few sections have says more.
    const rarity = Object.fromEntries(asked.map((token) => {
      const having = hits.filter(({ words }) => words.includes(token)).length;
      return [token, having && Math.log(1 + sections.length / having)];
    }));
    const sum = (tokens) => tokens.reduce((all, token) => all + rarity[token], 0);
    for (const hit of hits) {
      // A heading that is what was asked for is that of its definition, or of its page.
      const isIt = tokens(lunr, hit.section.heading).map(stem).sort().join() === wanted;
      hit.rank = hit.score * hit.section.weight * (sum(hit.words) / sum(asked)) ** 3 * (isIt ? 1.5 : 1);
    }
    hits.sort((one, other) => other.rank - one.rank);
    const pages = new Map();
    for (const { section, rank } of hits) {
      const page = pages.get(section.page) ?? { ...section, rank: 0, share: 1 };
      // The best section counts most, the others less and less.
      page.rank += rank * page.share;
      page.share /= 3;
      pages.set(section.page, page);
    }
    // The best section, such as that of the glossary, links to where its matter is explained.
    for (const link of hits[0]?.section.links ?? []) if (pages.has(link)) pages.get(link).rank *= 1.25;
    return [...pages.values()].sort((one, other) => other.rank - one.rank);
  };

  return { makeIndex, find };
})();

if (typeof module !== "undefined") module.exports = search;
