/**
 * The solver at the sizes of GPT-2 (144 sites), GPT-2 XL (576) and a Llama of 126 layers (2,646), two and three formats:
 * npm run bench. Budgets to hold at 2,646: one solve within a frame of 16 ms, the whole frontier within 300 ms. Beside
 * the clock it prints p50 and p95 in CPU time, which other work on the machine does not stretch.
 */
import { bench, describe, type BenchOptions } from 'vitest';
import { gpt2Graph } from '../models/gpt2';
import { poseQuestion, type SiteChoice } from './choices';
import { costedSites } from './cost';
import { costTable } from './costs';
import { solveChoices, spendAtMost } from './frontier';
import { largeQuestion, random } from './solver-fixture';
import { flipSolves } from './unstable';
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

/** q, k and v of a layer, gate and up. */
function fused(sites: readonly SiteChoice[]): string[][] {
  const groups = new Map<string, string[]>();
  for (const { id } of sites) {
    const key = id.replace(/\.(q|k|v):/, '.qkv:').replace(/\.(gate|up):/, '.gate_up:');
    groups.set(key, [...(groups.get(key) ?? []), id]);
  }
  return [...groups.values()].filter((group) => group.length > 1);
}

const SOLVES = 250;

/** A bench whose runs are timed one by one: p50 and p95 of wall and CPU time, printed at its end. */
function timed(where: string, name: string, run: () => void, iterations = SOLVES): void {
  let wall: number[] = [];
  let cpu: number[] = [];
  const options: BenchOptions = {
    iterations, time: 0, warmupIterations: Math.ceil(iterations / 10), warmupTime: 0,
    setup() {
      [wall, cpu] = [[], []];
    },
    teardown(_, mode) {
      if (mode === 'run') console.log(`${where}, ${name}: wall p50 ${at(wall, 0.5)} p95 ${at(wall, 0.95)} ms, CPU p50 ${at(cpu, 0.5)} p95 ${at(cpu, 0.95)} ms, ${wall.length} runs`);
    },
  };
  bench(name, () => {
    const [startWall, startCpu] = [performance.now(), process.cpuUsage()];
    run();
    const { user, system } = process.cpuUsage(startCpu);
    wall.push(performance.now() - startWall);
    cpu.push((user + system) / 1000);
  }, options);
}

function at(samples: readonly number[], share: number): string {
  return (samples.toSorted((a, b) => a - b)[Math.min(samples.length - 1, Math.floor(share * samples.length))] ?? NaN).toFixed(2);
}

describe.each([2, 3] as const)('%i formats', (formats) => {
  const llama = largeQuestion(126, formats);
  const cases = [['144 sites', gpt2Question(12, 768, formats), []], ['576 sites', gpt2Question(48, 1600, formats), []], ['2,646 sites', llama, []], ['2,646 sites, fused', llama, fused(llama)]] as const;
  describe.each(cases)('%s', (size, sites, groups) => {
    const where = `${formats} formats, ${size}`;
    const question = poseQuestion(sites, groups);
    const frontier = solveChoices(question);
    const cheapest = frontier.points[0]!.cost;
    let turn = 0;
    // Every budget once, in an order that never comes near the one before.
    const budget = (): number => cheapest + ((frontier.totalCost - cheapest) * (0.5 + (turn = (turn + 97) % SOLVES))) / SOLVES;
    const solves = flipSolves(sites, [], frontier.formatsAt(frontier.points.length >> 1), (_, format) => (format === 'bf16' ? 0 : 0.1));

    timed(where, 'spend at most, optimal and proven', () => void solveWithin(question, { cost: budget() }));
    timed(where, 'bend at most, optimal and proven', () => void solveWithin(question, { angleDeg: spendAtMost(frontier, budget()).point.angleDeg }));
    timed(where, 'a stop of the frontier: budget -> formats of every site', () => void frontier.formatsAt(spendAtMost(frontier, budget()).index));
    timed(where, 'from the sites on: the question posed', () => void poseQuestion(sites, groups), 60);
    timed(where, 'from the sites on: the whole frontier', () => void solveChoices(poseQuestion(sites, groups)), 40);
    if (groups.length === 0) timed(where, 'one of the 100 solves within noise', () => void solves.next(), 60);
  });
});
