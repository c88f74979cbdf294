/** What a table of the sites holds beside the plan's own facts: everything the page knows of each cell. */
import type { TableFacts } from '../allocate/exports/export-target';
import { fillOf, leaveOneOutOf, ranksOf } from './selectors';
import type { Shown } from './shown';

export function tableFactsOf(shown: Shown): TableFacts {
  return {
    measuredHere: shown.measuredHere, ranks: ranksOf(shown), leftOut: leaveOneOutOf(shown), scores: shown.scores, other: shown.others,
    takenAwayDeg: new Map([...fillOf(shown, 'leave-one-out')].map(([id, { angleDeg }]) => [id, angleDeg])),
  };
}
