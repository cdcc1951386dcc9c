/* What the search of the pages finds first: guides and public names before the files of the source. */
"use strict";

var Scorer = {
  score: ([page, , , , score]) => (page.startsWith("generated/modules/") ? score - 100 : score),
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
