/**
 * The solver at the sizes of GPT-2 (144 sites), GPT-2 XL (576) and a Llama of 126 layers (2,646), two and three formats:
 * npm run bench. Budgets to hold at 2,646: one solve within a frame of 16 ms, the whole frontier within 300 ms.
 */
import { bench, describe } from 'vitest';
import { gpt2Graph } from '../models/gpt2';
import { poseQuestion, type SiteChoice } from './choices';
import { costedSites } from './cost';
import { costTable } from './costs';
import { solveChoices, spendAtMost } from './frontier';
import { largeQuestion, random } from './solver-fixture';
import { solveWithin } from './within';

/** GPT-2's own shapes with random angles; two formats are bought by work, three by time. */
function gpt2Question(layers: number, width: number, formats: 2 | 3): SiteChoice[] {
  const graph = gpt2Graph({ model: 'gpt2', layers, width, heads: width / 64, positions: 1024, vocabulary: 50257, eps: 1e-5 });
  const sites = costedSites(graph, 'nvfp4');
  const costs = costTable(graph, sites, ['fp8', 'nvfp4'], {}, formats === 2 ? { kind: 'gemm' } : { kind: 'time' });
  const next = random(layers);
  return sites.map(({ id, pass }) => {
    const tan2 = Math.exp(6 * (next() - 0.5)) * { fprop: 4e-4, dgrad: 4e-5, wgrad: 1e-5, out: 0 }[pass];
    const floorTan2 = { fprop: 7e-6, dgrad: 3e-7, wgrad: 0, out: 0 }[pass];
    const low = [{ format: 'fp8', share: 0.01 + 0.01 * next() }, { format: 'nvfp4', share: 1 }] as const;
    return {
      id, lock: null,
      offers: [{ format: 'bf16', cost: costs.of(id, 'bf16'), tan2: 0, floorTan2: 0 }, ...low.slice(3 - formats).map(({ format, share }) => ({ format, cost: costs.of(id, format), tan2: share * tan2, floorTan2 }))],
    };
  });
}

describe.each([2, 3] as const)('%i formats', (formats) => {
  const cases = [[144, gpt2Question(12, 768, formats)], [576, gpt2Question(48, 1600, formats)], [2646, largeQuestion(126, formats)]] as const;
  describe.each(cases)('%i sites', (_, sites) => {
    const question = poseQuestion(sites);
    const frontier = solveChoices(question);
    const shares = Array.from({ length: 50 }, (_, i) => 0.27 + 0.014 * i);
    let turn = 0;
    const share = (): number => shares[(turn += 7) % shares.length]!;

    bench('whole frontier, from the sites on', () => {
      solveChoices(poseQuestion(sites));
    });
    bench('a stop of the frontier: budget -> formats of every site', () => {
      frontier.formatsAt(spendAtMost(frontier, share() * frontier.totalCost).index);
    });
    bench('spend at most, optimal and proven', () => {
      solveWithin(question, { cost: share() * question.totalCost });
    });
    bench('bend at most, optimal and proven', () => {
      solveWithin(question, { angleDeg: frontier.points[Math.floor(share() * frontier.points.length)]!.angleDeg });
    });
  });
});
