/** The whole state of a cell in one sentence, for a screen reader (ux.md 3.7). */
import { formatOf } from '../../allocate/cost';
import type { Plan } from '../../allocate/plan';
import { significant } from '../../base/units';
import type { SiteId } from '../../graph/policy';
import { BENDS_MORE, fillOf, FILL_WORDS, formatName, ranksOf, sitesOf, type Fill, type Shown } from '../../state';
import { siteName } from './site-names';

export function siteSentence(shown: Shown, plan: Plan, id: SiteId, fill: Fill): string {
  const { graph, recipe } = shown;
  if (!graph) return id;
  const result = shown.sites[id];
  const cell = fillOf(shown, fill).get(id);
  const parts = [siteName(graph, id)];
  if (shown.measuring === id) parts.push('being measured');
  if (cell?.angleDeg != null) {
    parts.push(`${FILL_WORDS[fill].figure} ${significant(cell.angleDeg).replace('-', '−')} degrees`);
    if (cell.angleDeg < 0) parts.push(BENDS_MORE);
    const rank = ranksOf(shown).get(id);
    if (fill === 'isolated' && rank !== undefined) parts.push(`rank ${rank} of ${sitesOf(graph, recipe).length}`);
    if (cell.belowNoise) parts.push('below noise');
  } else if (cell?.state === 'failed') parts.push(`failed, ${cell.reason ?? ''}`);
  else if (cell?.reason != null) parts.push(`${FILL_WORDS[fill].name.toLowerCase()} not known: ${cell.reason}`);
  else parts.push(fill === 'isolated' ? 'not measured' : `${FILL_WORDS[fill].name.toLowerCase()} not measured`);
  parts.push(`precision ${formatName(formatOf(plan.formats, id))}`);
  if (plan.locked[id]) parts.push('locked');
  if (result && !shown.measuredHere.has(id)) parts.push('stored example');
  return `${parts.join(', ')}.`;
}
