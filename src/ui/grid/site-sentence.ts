/** The whole state of a cell in one sentence, for a screen reader (ux.md 3.7). */
import { cleanTan2, formatOf } from '../../allocate/cost';
import type { Plan } from '../../allocate/plan';
import { significant } from '../../base/units';
import type { SiteId } from '../../graph/policy';
import { BENDS_MORE, evidenceOf, fillOf, FILL_WORDS, formatName, ranksOf, sitesOf, unstableOf, type Fill, type Shown } from '../../state';
import { flipsText } from './site-figures';
import { siteName } from './site-names';

/** `against`: A, in the difference view. */
export function siteSentence(shown: Shown, plan: Plan, id: SiteId, fill: Fill, against: Plan | null = null): string {
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
  const format = formatOf(plan.formats, id);
  parts.push(`precision ${formatName(format)}`);
  if (format !== 'bf16' && format !== recipe && cleanTan2(evidenceOf(shown), id, format) === null) parts.push(`not predicted: not measured in ${formatName(format)}`);
  const before = against?.formats[id];
  if (before !== undefined && before !== format) parts.push(`${formatName(before)} in A`);
  if (plan.locked[id]) parts.push('locked');
  if (unstableOf(shown, { preview: null }).has(id)) parts.push(flipsText(shown.unstable?.flips.get(id) ?? 0));
  if (result && !shown.measuredHere.has(id)) parts.push('stored example');
  return `${parts.join(', ')}.`;
}
