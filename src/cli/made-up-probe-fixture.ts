/** Tests of refusals: probes of gpt2-nano that nobody measured, in files. */
import { costedSites } from '../allocate/cost';
import type { RecipeName } from '../graph/policy';
import { NANO, type Scratch } from './cli-fixture';
import { builtIn } from './golden';
import { openFolder } from './open-folder';

const { graph } = builtIn('nano');
const { sha256 } = await openFolder(NANO);

export const measured = (angleDeg: number): object => ({
  status: 'measured', angleDeg, cleanAngleDeg: angleDeg, angleSeDeg: 0.1, belowNoise: false, relativeShift: 0.1, lengthRatio: 1, rotationShare: 0.9, lossChange: 0, localError: null,
  blockAngleDeg: {}, layerAngleDeg: {}, perBatch: [],
});

export const PROVENANCE = {
  appVersion: '0.1.0', device: 'a device', isFallbackAdapter: true, browser: 'Dawn for Node', modelSha256: sha256, tokensSha256: `sha256:${'1'.repeat(64)}`, modelName: 'gpt2-nano', dataName: 't.json',
  seed: 0, batches: 1, sequences: 1, tokens: 8,
};

/** Every site of the recipe measured at some angle; `change` and `provenance` replace what is to be wrong. */
export function report(recipe: RecipeName, change: object = {}, provenance: object = {}): object {
  const sites = Object.fromEntries(costedSites(graph, recipe).map(({ id }, i) => [id, measured(1 + (i % 7))]));
  return { schema: 'bendscope-probe/1', recipe, options: {}, provenance: { ...PROVENANCE, ...provenance }, referenceLoss: [6], floor: { forwardDeg: 0.1, backwardDeg: 0.05, perRun: [] }, sites, joint: {}, ...change };
}

/** Writes inputs under names of their own. -> the path. */
export function writerIn(scratch: Scratch): (content: unknown) => string {
  let count = 0;
  return (content) => scratch.write(`input-${count++}.json`, content);
}
