/**
 * What the stored examples hold of gpt2-mini: our plan and every rival's at five budgets, each measured as a whole: where ours
 * bends least, how far predictions hold; the README's tables are these figures.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { predict, type Formats } from '../allocate/cost';
import { planCost } from '../allocate/costs';
import { planPolicy, policyHash } from '../allocate/plan';
import { significant } from '../base/units';
import { gpt2Config } from '../data/hf-config';
import { PASS_SCHEMES, type RecipeName } from '../graph/policy';
import type { Measured, ProbeRecord } from '../graph/probe-record';
import { gpt2Graph } from '../models/gpt2';
import { askProbes } from './allocate-question';
import { comparedPlans } from './compare-plans';
import { standardError } from './compare-standing';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const GRAPH = gpt2Graph(gpt2Config(read('public/models/gpt2-mini/config.json'), 'gpt2-mini'));
const README = read('README.md');
const BUDGETS = [0.05, 0.1, 0.2, 0.33, 0.5];

describe.each<[RecipeName, 'gemm' | 'cache', string]>([['nvfp4', 'gemm', 'stored-probe.json'], ['fp8-out', 'cache', 'stored-probe-fp8-out.json']])('%s', (recipe, kind, file) => {
  const record = JSON.parse(read(`public/${file}`)) as ProbeRecord;
  const { options, floor, sites: results, scores = {}, provenance } = record;
  const evidence = { sites: results, floor };
  const { asked } = askProbes(GRAPH, { low: [{ format: recipe, evidence }], options, provenance }, { kind }, {}, recipe === 'nvfp4' ? PASS_SCHEMES : []);
  const { sites, costs } = asked;
  // A format that nobody probed has nothing: the mixed recipe's plan is measured, and not predicted.
  const inputs = { graph: GRAPH, recipe, sites, evidence: { ...evidence, byFormat: { [recipe]: results } }, scores, costs, groups: asked.groups, second: null };
  const { levels, fixed } = comparedPlans({ asked, inputs, budgets: BUDGETS, methods: null, given: [] });

  const jointOf = (formats: Formats): Measured => {
    const hash = policyHash(planPolicy(formats, sites, options), { modelSha256: provenance.modelSha256, recipe });
    const result = record.joint[hash]?.result;
    if (result?.status !== 'measured') throw new Error(`${file}: expected plan ${hash} to be measured, got ${result?.status ?? 'nothing'}`);
    return result;
  };
  const budgeted = levels.filter(({ isAsked }) => isAsked);
  const all = [...levels.flatMap(({ rows }) => rows), ...fixed].map(({ method, formats }) => ({ method, formats: formats ?? {} }));

  it('our plan bends less, as measured, than every other that costs no more, or no more than the standard error of the difference', () => {
    expect(budgeted.map(({ budget }) => budget)).toEqual(BUDGETS);
    const above: string[] = [];
    for (const { rows: [first], limit, budget } of budgeted) {
      const ours = jointOf(first!.formats!);
      const rivals = all.filter(({ method, formats }) => method.id !== 'ours' && planCost(costs, sites, formats) <= limit);
      expect(rivals.length).toBeGreaterThan(5);
      for (const { method, formats } of rivals) {
        const theirs = jointOf(formats);
        if (ours.angleDeg <= theirs.angleDeg) continue;
        above.push(`${method.id} at ${budget}`);
        const [own, other] = [ours, theirs].map(({ perBatch }) => perBatch.map((batch) => batch.angleDeg));
        expect(ours.angleDeg - theirs.angleDeg).toBeLessThan(standardError(own!, other!)!);
      }
    }
    expect(above).toEqual(recipe === 'nvfp4' ? [] : ['first-order at 0.5', 'snip at 0.5']);
  });

  it('predicted angles of twenty plans and more are within a tenth of the measured ones at the median', () => {
    const gaps = new Map<string, number>();
    for (const { formats } of all) {
      const { predictedDeg } = predict(sites, formats, inputs.evidence);
      if (predictedDeg) gaps.set(JSON.stringify(planPolicy(formats, sites, options)), Math.abs(jointOf(formats).angleDeg / predictedDeg - 1));
    }
    const sorted = [...gaps.values()].sort((a, b) => a - b);
    expect(sorted.length).toBeGreaterThanOrEqual(20);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThan(0.1);
  });

  it('the README has these figures', () => {
    for (const { method } of budgeted[0]!.rows) {
      const figures = budgeted.map(({ rows }) => significant(jointOf(rows.find((row) => row.method.id === method.id)!.formats!).angleDeg, 3));
      expect(README).toContain(`| ${method.name} | ${figures.join(' | ')} |`);
    }
  });
});
