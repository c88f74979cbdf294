/** Pages to draw for tests: models of any depth with figures from a seed, every state of a cell among them. */
import type { Plan } from '../../allocate/plan';
import { philox4x32 } from '../../base/random';
import type { RecipeName, SiteFormat, SiteId } from '../../graph/policy';
import type { JointResult, Provenance, SiteResult } from '../../graph/probe-record';
import { gpt2Graph } from '../../models/gpt2';
import { createDocumentStore, createViewStore, hashOfPlan, OWN_COST, plansOf, sitesOf, type DocumentState } from '../../state';
import { measured, shownWith } from '../shown-fixture';
import { figureInputs, type FigureState } from './figure-data';
import type { FigureInputs } from './figure-types';

/** A name as bad as names get: markup, TeX, controls, half a surrogate pair, a turn of direction, scripts and an emoji. */
export const HOSTILE_NAME = 'A<b> & "c" \'d\' ]]> --> \u0000\u0007\ud800 \u202egnp.exe 🚀 漢字 θ=5° \\input{x} 100%_$#~^';

export interface PageOptions {
  readonly layers?: number;
  readonly recipe?: RecipeName;
  readonly name?: string;
  /** Cells that failed, that nothing measured, locked and below noise ones; otherwise every cell has its angle. */
  readonly everyState?: boolean;
}

const PROVENANCE: Provenance = {
  appVersion: '0.1.0', device: 'Example GPU', isFallbackAdapter: false, browser: 'none', modelSha256: `sha256:${'a'.repeat(64)}`, tokensSha256: `sha256:${'c'.repeat(64)}`,
  modelName: 'gpt2-mini', dataName: 'Moby-Dick', seed: 1, batches: 4, sequences: 4, tokens: 128, startedAt: '2026-01-01T00:00:00Z',
};

/** A page with a probe of all its sites and joint measurements of most of its plans. Same options, same page. */
export function figureState({ layers = 6, recipe = 'nvfp4', name = 'Plan', everyState = false }: PageOptions = {}): FigureState {
  const graph = gpt2Graph({ model: 'gpt2-mini', layers, width: 128, heads: 4, positions: 128, vocabulary: 1024, eps: 1e-5 });
  const all = sitesOf(graph, recipe);
  const draw = (n: number): number => (philox4x32([n, 0, 0, 0], [7, layers])[0] ?? 0) / 2 ** 32;
  const fate = (i: number): 'failed' | 'missing' | 'measured' => (everyState && i % 11 === 3 ? 'failed' : everyState && i % 11 === 7 ? 'missing' : 'measured');
  const sites = Object.fromEntries(all.flatMap(({ id }, i): [SiteId, SiteResult][] => {
    if (fate(i) === 'missing') return [];
    if (fate(i) === 'failed') return [[id, { status: 'failed', errorName: 'E-RUN-01', reason: 'loss is not finite' }]];
    const angleDeg = 10 ** (3.4 * draw(i) - 2.2);
    return [[id, { ...measured(angleDeg), belowNoise: angleDeg < 0.05, localError: 10 ** (2 * draw(i + 5000) - 4), relativeShift: angleDeg / 57.3 }]];
  }));
  const lows: readonly SiteFormat[] = everyState && recipe === 'nvfp4' ? ['bf16', 'nvfp4', 'fp8', 'nvfp4'] : ['bf16', recipe, recipe];
  const formats = Object.fromEntries(all.map(({ id }, i) => [id, lows[Math.floor(draw(i + 9000) * lows.length)] ?? recipe]));
  // Formats painted by hand are not for the solver, so none of them is locked.
  const locked = Object.fromEntries(all.filter(({ id }, i) => everyState && i % 5 === 0 && formats[id] !== 'fp8').map(({ id }) => [id, true as const]));
  const plan: Plan = { name, notes: '', formats, locked };
  const document: DocumentState = { ...createDocumentStore().getState(), recipe, plan, modelSha256: PROVENANCE.modelSha256 };
  const results = { sites, measuredHere: new Set(Object.keys(sites)), floor: { forwardDeg: 0.15, backwardDeg: 0.03, perRun: [] }, provenance: PROVENANCE };
  const before = shownWith({ graph, modelName: 'gpt2-mini', modelSha256: PROVENANCE.modelSha256 }, results, recipe);
  const joint = Object.fromEntries(plansOf(document, before, OWN_COST).flatMap(({ plan: made }, i): [string, JointResult][] => {
    const planHash = hashOfPlan(before, made);
    if (planHash === null || i % 3 === 2) return [];
    return [[planHash, { planHash, lowSites: Object.values(made.formats).filter((format) => format !== 'bf16').length, result: { ...measured(2 + 10 * draw(i + 20_000)), angleSeDeg: 0.4, perBatch: [] } }]];
  }));
  return { shown: { ...before, joint, jointHere: new Set(Object.keys(joint)) }, document, view: createViewStore().getState(), allocation: `{"manifest":"sha256:${'d'.repeat(64)}"}` };
}

export function inputsOf(options: PageOptions = {}): FigureInputs {
  const inputs = figureInputs(figureState(options));
  if (inputs === null) throw new Error('inputsOf: expected a page with a model, got none');
  return inputs;
}
