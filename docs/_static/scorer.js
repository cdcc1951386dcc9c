/* What the search of the pages finds first: guides and public names before the files of the source, and before
   terms of the glossary of which what is typed is a part only. */
"use strict";

var Scorer = {
  score: ([page, , , , score, , kind]) => {
    if (page.startsWith("generated/modules/")) return score - 100;
    return page === "glossary" && kind === "index" && score < 100 ? score / 10 : score;
  },
  // All else as Sphinx has it.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
