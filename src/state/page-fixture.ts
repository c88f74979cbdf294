/**
 * A page without a page, for tests: the real stores and actions over a worker that answers by script. A run stays open
 * until the test ends it, so that a test can say what happens in between and what comes too late.
 */
import type { DeviceReport, ExtraMeasures, JointRequest, ProbeEvent, ProbeRequest, WorkerApi } from '../bridge/protocol';
import type { Ledger } from '../graph/ledger';
import type { Policy, RecipeName, SiteId } from '../graph/policy';
import type { JointResult, Measured, NoiseFloor, ProbeRecord, Provenance, SiteResult } from '../graph/probe-record';
import { gpt2Graph } from '../models/gpt2';
import { createActions, createDocumentStore, createFactsStore, createViewStore, shownNow, sitesOf } from '.';

export const CONFIG = { model: 'tiny', layers: 2, width: 16, heads: 2, positions: 8, vocabulary: 32, eps: 1e-5 };
export const GRAPH = gpt2Graph(CONFIG);
export const ALL_SITES = sitesOf(GRAPH, 'nvfp4').map((site) => site.id);
export const ALL_OUTS = sitesOf(GRAPH, 'fp8-out').map((site) => site.id);
export const SITES = ['h.0.mlp.c_fc:fprop', 'h.1.mlp.c_fc:fprop'] as const;
export const MODEL = `sha256:${'a'.repeat(64)}`;
const TOKENS = `sha256:${'c'.repeat(64)}`;
/** A model that is not the built-in one. */
export const OTHER = { graph: gpt2Graph({ ...CONFIG, model: 'other', layers: 1 }), modelName: 'other', modelSha256: `sha256:${'b'.repeat(64)}` };
/** Files whose opening gives OTHER. */
export const FILES = { kind: 'files', name: 'other', config: '{}', weights: new ArrayBuffer(0), tokenizer: null } as const;

export const provenance = (device: string): Provenance => ({
  appVersion: '0', device, isFallbackAdapter: false, browser: 'none', modelSha256: MODEL, tokensSha256: TOKENS, modelName: 'tiny', dataName: 'book',
  seed: 3, batches: 1, sequences: 1, tokens: 8, startedAt: '2026-01-01T00:00:00Z',
});
export const measured = (angleDeg: number): Measured => ({
  status: 'measured', angleDeg, cleanAngleDeg: angleDeg, angleSeDeg: 0, belowNoise: false, relativeShift: 0, lengthRatio: 1, rotationShare: 1, lossChange: 0,
  localError: 0, blockAngleDeg: {}, layerAngleDeg: {}, perBatch: [], elapsedMs: 1,
});
export const floor = (deg: number): NoiseFloor => ({ forwardDeg: deg, backwardDeg: deg / 2, perRun: [] });
export const jointOfAngle = (planHash: string, angleDeg: number, lowSites = 24): JointResult => ({ planHash, lowSites, result: measured(angleDeg) });
/** The stored example: two cells, measured elsewhere. */
export const RECORD: ProbeRecord = {
  schema: 'bendscope-probe/1', recipe: 'nvfp4', options: {}, provenance: provenance('elsewhere'), referenceLoss: [3.5], floor: floor(0.1),
  sites: { [SITES[0]]: measured(1), [SITES[1]]: measured(2) }, joint: {},
};
/** Angles of all cells of a recipe, no two the same: forward passes most, weight gradients least, deeper layers more; over three batches. */
export function allMeasured(recipe: RecipeName, scale = 1): Readonly<Record<SiteId, Measured>> {
  const sites = sitesOf(GRAPH, recipe);
  return Object.fromEntries(sites.map(({ id, pass }, i) => {
    const angleDeg = scale * (0.2 + ((i * 7) % sites.length) / sites.length + i / 100) * { fprop: 2, dgrad: 0.8, wgrad: 0.5, out: 1 }[pass];
    const batch = (factor: number) => ({ angleDeg: factor * angleDeg, relativeShift: 0, lengthRatio: 1, rotationShare: 1, lossChange: 0, localError: 0.01 * (i + 1) });
    return [id, { ...measured(angleDeg), angleSeDeg: 0.04 * angleDeg, localError: 0.01 * (i + 1), perBatch: [0.95, 1, 1.05].map(batch) }];
  }));
}
/** The stored example with every cell measured. */
export const FULL: ProbeRecord = {
  ...RECORD, provenance: { ...RECORD.provenance, batches: 3 }, sites: allMeasured('nvfp4'),
  floor: { ...floor(0.1), perRun: [0, 1, 2].flatMap((batch) => (['y', 'dy'] as const).map((what) => ({ batch, node: 'wte', what, angleDeg: what === 'y' ? 0.1 : 0.05 }))) },
};
export const LEDGER: Ledger = { weightBytes: 1, activationBytes: { BF16: 2 }, gradientBytes: 3, parameterGradientBytes: 4, scratchBytes: 5, totalBytes: 15 };
export const READY: DeviceReport = { status: 'ready', error: null, device: 'here', isFallbackAdapter: false, checks: [], facts: {} };

/** A worker's verifyJointly that says at once what `angleOf` makes of the policy, null: a plan without a finite gradient. */
export function jointWorker(angleOf: (policy: Policy) => number | null): WorkerApi['verifyJointly'] {
  return ({ runId, policy, planHash }, onEvent) => {
    const angleDeg = angleOf(policy);
    const result: SiteResult = angleDeg === null ? { status: 'failed', errorName: 'E-RUN-02', reason: 'the gradient is not finite' } : { ...measured(angleDeg), angleSeDeg: 0.02 * angleDeg };
    const joint: JointResult = { planHash, lowSites: Object.keys(policy.passes).length, result };
    onEvent({ kind: 'started', runId, provenance: provenance('here'), allocated: LEDGER, resumedSites: 0 });
    onEvent({ kind: 'joint', runId, joint });
    onEvent({ kind: 'finished', runId });
    return Promise.resolve(joint);
  };
}

type WithoutRun<E> = E extends ProbeEvent ? Omit<E, 'runId'> : never;

/** A run that the worker has begun and that only the test ends. */
export interface OpenRun {
  readonly request: ProbeRequest | JointRequest;
  /** Sends an event of this run, as long as anyone likes: also after its end. */
  say(event: WithoutRun<ProbeEvent>): void;
  end(): void;
  fail(error: Error): void;
}

/** Lets every promise that can settle do so. */
export const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

export function createPage({ record = RECORD, storage = null, ...overrides }: Partial<WorkerApi> & { readonly record?: ProbeRecord; readonly storage?: Pick<Storage, 'getItem'> | null } = {}) {
  /** Every call the worker heard, in order. */
  const heard: string[] = [];
  const runs: OpenRun[] = [];
  const begin = (request: ProbeRequest | JointRequest, onEvent: (event: ProbeEvent) => void): Promise<void> => {
    heard.push(`run ${request.modelSha256}`);
    return new Promise((resolve, reject) => runs.push({ request, say: (event) => onEvent({ ...event, runId: request.runId } as ProbeEvent), end: resolve, fail: reject }));
  };
  const api: WorkerApi = {
    start: () => Promise.resolve(READY),
    openModel: (source) => {
      heard.push(`open ${source.name}`);
      return Promise.resolve(source.kind === 'files' ? OTHER : { graph: GRAPH, modelName: 'tiny', modelSha256: MODEL });
    },
    openData: () => Promise.resolve({ dataName: 'book', tokensSha256: TOKENS, tokenCount: 9, firstWindow: 'Call me' }),
    runProbe: begin,
    verifyJointly: (request, onEvent) => begin(request, onEvent).then(() => jointOfAngle(request.planHash, 5)),
    pause: (runId) => Promise.resolve(void heard.push(`pause ${runId}`)),
    resume: (runId) => Promise.resolve(void heard.push(`resume ${runId}`)),
    cancel: (runId) => Promise.resolve(void heard.push(`cancel ${runId}`)),
    ...overrides,
  };
  const stores = { document: createDocumentStore(), facts: createFactsStore(), view: createViewStore() };
  const actions = createActions(stores, () => Promise.resolve(api), 'https://host/app/', storage);
  actions.openStored({ config: CONFIG, record });
  return {
    ...stores, actions, heard,
    /** What the page shows. */
    shown: () => shownNow(stores),
    /** The newest run the worker began. */
    run(): OpenRun {
      const newest = runs.at(-1);
      if (!newest) throw new Error('the worker began no run');
      return newest;
    },
    /** The page's facts but for the notices: what an event that comes too late must leave alone. */
    figures() {
      const { notices, ...rest } = stores.facts.getState();
      return { ...rest, notices: notices.length };
    },
  };
}

/** A page whose device is ready and whose probe runs. */
export async function createRunningPage(options: Parameters<typeof createPage>[0] = {}, extra?: ExtraMeasures) {
  const page = createPage(options);
  await page.actions.checkDevice();
  if (extra) page.actions.setExtra(extra);
  const ended = page.actions.runProbe();
  await settled();
  return { ...page, ended };
}

/** localStorage with room for `limit` characters. */
export function memoryStorage(limit = Infinity) {
  const saved = new Map<string, string>();
  return {
    saved,
    getItem: (key: string) => saved.get(key) ?? null,
    removeItem: (key: string) => void saved.delete(key),
    setItem(key: string, value: string) {
      const others = [...saved].reduce((sum, [k, v]) => sum + (k === key ? 0 : k.length + v.length), 0);
      if (others + key.length + value.length > limit) throw new DOMException('no room', 'QuotaExceededError');
      saved.set(key, value);
    },
  };
}
