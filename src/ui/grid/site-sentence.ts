/** The whole state of a cell in one sentence, for a screen reader (ux.md 3.7). */
import { formatOf } from '../../allocate/cost';
import type { Plan } from '../../allocate/plan';
import { significant } from '../../base/units';
import type { SiteId } from '../../graph/policy';
import { formatName, layerOf, LAYER_WORDS, ranksOf, sitesOf, type Layer, type Shown } from '../../state';
import { siteName } from './site-names';

export function siteSentence(shown: Shown, plan: Plan, id: SiteId, layer: Layer): string {
  const { graph, recipe } = shown;
  if (!graph) return id;
  const result = shown.sites[id];
  const cell = layerOf(shown, layer).get(id);
  const parts = [siteName(graph, id)];
  if (shown.measuring === id) parts.push('being measured');
  if (cell?.angleDeg != null) {
    parts.push(`${LAYER_WORDS[layer].figure} ${significant(cell.angleDeg)} degrees`);
    const rank = ranksOf(shown).get(id);
    if (layer === 'isolated' && rank !== undefined) parts.push(`rank ${rank} of ${sitesOf(graph, recipe).length}`);
    if (cell.belowNoise) parts.push('below noise');
  } else if (cell?.state === 'failed') parts.push(result?.status === 'failed' ? `failed, ${result.errorName}` : 'failed');
  else parts.push(layer === 'isolated' ? 'not measured' : `${LAYER_WORDS[layer].figure} not measured`);
  parts.push(`precision ${formatName(formatOf(plan.formats, id))}`);
  if (plan.locked[id]) parts.push('locked');
  if (result && !shown.measuredHere.has(id)) parts.push('stored example');
  return `${parts.join(', ')}.`;
}
