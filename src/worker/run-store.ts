/**
 * Measured results that survive a reload: one small record per site, keyed by what the measurement depends on.
 * Written after every site, so a finished cell is never lost (ux.md 6.9). IndexedDB in the browser; where there is none
 * (private windows) or it refuses a write (quota), the same records stay in memory and `problem` says so.
 * RunStore is the interface that the command line's file-backed store implements too.
 */
import { openDB } from 'idb';
import type { DBSchema, IDBPDatabase } from 'idb';
import { hashOf } from '../base/canonical-json';
import { BendscopeError, toPlainError } from '../base/errors';
import type { PolicyOptions, RecipeName, SiteId } from '../graph/policy';
import type { JointResult, NoiseFloor, SiteResult, SiteScores } from '../graph/probe-record';
import { recipeOptions } from '../graph/recipes';

/** Everything a measured number depends on; a change of any gives another run. */
export interface RunIdentity {
  readonly modelSha256: string;
  readonly tokensSha256: string;
  readonly recipe: RecipeName;
  readonly options: PolicyOptions;
  readonly device: string;
  readonly appVersion: string;
}

export interface StoredReference {
  readonly floor: NoiseFloor;
  readonly referenceLoss: readonly number[];
}

export interface StoredRun {
  readonly reference: StoredReference | null;
  readonly sites: Readonly<Record<SiteId, SiteResult>>;
  readonly scores: Readonly<Record<SiteId, SiteScores>>;
  /** By the site that stayed high. */
  readonly leaveOneOut: Readonly<Record<SiteId, SiteResult>>;
  /** Keyed by plan hash. */
  readonly joint: Readonly<Record<string, JointResult>>;
}

export interface RunStore {
  /** Null while records outlive this visit; else E-STO-02, and they are kept in memory only. */
  readonly problem: BendscopeError | null;
  /** All that is stored under a key; an unknown key gives an empty run. */
  load(key: string): Promise<StoredRun>;
  /** Resolves when the record is stored; a later record for the same site replaces it. */
  putSite(key: string, site: SiteId, result: SiteResult): Promise<void>;
  putScores(key: string, site: SiteId, scores: SiteScores): Promise<void>;
  putLeaveOneOut(key: string, site: SiteId, result: SiteResult): Promise<void>;
  putReference(key: string, reference: StoredReference): Promise<void>;
  putJoint(key: string, joint: JointResult): Promise<void>;
  delete(key: string): Promise<void>;
  /** Stored runs and how many records each holds. */
  list(): Promise<{ readonly key: string; readonly records: number }[]>;
}

/** The key of a run, `sha256:<hex>`: options in the form that equal meaning shares. */
export function runKey(identity: RunIdentity): string {
  return hashOf({ ...identity, options: recipeOptions(identity.recipe, identity.options) });
}

/**
 * Whether a stored result answers a request: it was measured, and holds what persists if that is asked for. Extra
 * measures add to a result and change nothing in it, so they are no part of the key.
 */
export function answers(result: SiteResult | undefined, extra: { readonly persistent: boolean }): boolean {
  return result?.status === 'measured' && (!extra.persistent || result.persistent !== undefined);
}

/** One stored fact. `id`: the site, the plan hash, or empty for the reference. */
export type RunRecord =
  | { readonly key: string; readonly kind: 'site'; readonly id: SiteId; readonly value: SiteResult }
  | { readonly key: string; readonly kind: 'scores'; readonly id: SiteId; readonly value: SiteScores }
  | { readonly key: string; readonly kind: 'leave-one-out'; readonly id: SiteId; readonly value: SiteResult }
  | { readonly key: string; readonly kind: 'joint'; readonly id: string; readonly value: JointResult }
  | { readonly key: string; readonly kind: 'reference'; readonly id: ''; readonly value: StoredReference };

/** Records, later ones replacing earlier ones, as one run. */
function collectRun(records: Iterable<RunRecord>): StoredRun {
  let reference: StoredReference | null = null;
  const sites: Record<SiteId, SiteResult> = {};
  const scores: Record<SiteId, SiteScores> = {};
  const leaveOneOut: Record<SiteId, SiteResult> = {};
  const joint: Record<string, JointResult> = {};
  for (const record of records) {
    if (record.kind === 'site') sites[record.id] = record.value;
    else if (record.kind === 'scores') scores[record.id] = record.value;
    else if (record.kind === 'leave-one-out') leaveOneOut[record.id] = record.value;
    else if (record.kind === 'joint') joint[record.id] = record.value;
    else reference = record.value;
  }
  return { reference, sites, scores, leaveOneOut, joint };
}

/** A store as four operations on records; the rest of RunStore follows from them. */
export interface RecordBackend {
  readonly problem: BendscopeError | null;
  put(record: RunRecord): Promise<void>;
  records(key: string): Promise<RunRecord[]>;
  delete(key: string): Promise<void>;
  list(): Promise<{ readonly key: string; readonly records: number }[]>;
}

/** The RunStore over a backend. */
export function runStoreOver(backend: RecordBackend): RunStore {
  return {
    get problem() {
      return backend.problem;
    },
    load: async (key) => collectRun(await backend.records(key)),
    putSite: (key, site, result) => backend.put({ key, kind: 'site', id: site, value: result }),
    putScores: (key, site, scores) => backend.put({ key, kind: 'scores', id: site, value: scores }),
    putLeaveOneOut: (key, site, result) => backend.put({ key, kind: 'leave-one-out', id: site, value: result }),
    putReference: (key, reference) => backend.put({ key, kind: 'reference', id: '', value: reference }),
    putJoint: (key, joint) => backend.put({ key, kind: 'joint', id: joint.planHash, value: joint }),
    delete: (key) => backend.delete(key),
    list: () => backend.list(),
  };
}

/** Records of this visit only. */
export function memoryBackend(problem: BendscopeError | null = null): RecordBackend {
  const runs = new Map<string, Map<string, RunRecord>>();
  return {
    problem,
    put(record) {
      const run = runs.get(record.key) ?? new Map<string, RunRecord>();
      runs.set(record.key, run.set(`${record.kind} ${record.id}`, record));
      return Promise.resolve();
    },
    records: (key) => Promise.resolve([...(runs.get(key)?.values() ?? [])]),
    delete: (key) => Promise.resolve(void runs.delete(key)),
    list: () => Promise.resolve([...runs].map(([key, run]) => ({ key, records: run.size }))),
  };
}

/**
 * A backend that turns to memory when the durable one refuses: from the first refusal on, records are written to memory
 * and read from both. A measurement never fails because it could not be stored.
 */
export function withMemoryFallback(durable: RecordBackend): RecordBackend {
  const memory = memoryBackend();
  let problem: BendscopeError | null = durable.problem;
  const orElse = async <T>(run: () => Promise<T>, other: T): Promise<T> => {
    try {
      return await run();
    } catch (thrown) {
      problem ??= notKept(thrown);
      return other;
    }
  };
  return {
    get problem() {
      return problem;
    },
    async put(record) {
      const stored = await orElse(() => durable.put(record).then(() => true), false);
      if (!stored) await memory.put(record);
    },
    records: async (key) => [...(await orElse(() => durable.records(key), [])), ...(await memory.records(key))],
    async delete(key) {
      await memory.delete(key);
      await orElse(() => durable.delete(key), undefined);
    },
    async list() {
      const counts = new Map<string, number>();
      for (const { key, records } of [...(await orElse(() => durable.list(), [])), ...(await memory.list())]) counts.set(key, (counts.get(key) ?? 0) + records);
      return [...counts].map(([key, records]) => ({ key, records }));
    },
  };
}

interface Schema extends DBSchema {
  records: { key: [string, string, string]; value: RunRecord };
}

/** The browser's store. Never rejects: without IndexedDB it is a memory store whose `problem` is set. */
export async function openRunStore(database = 'bendscope-runs'): Promise<RunStore> {
  try {
    if (typeof indexedDB === 'undefined') throw new Error('this browser offers no IndexedDB here');
    const db = await openDB<Schema>(database, 1, {
      upgrade: (fresh) => void fresh.createObjectStore('records', { keyPath: ['key', 'kind', 'id'] }),
    });
    return runStoreOver(withMemoryFallback(idbBackend(db)));
  } catch (thrown) {
    return runStoreOver(memoryBackend(notKept(thrown)));
  }
}

function idbBackend(db: IDBPDatabase<Schema>): RecordBackend {
  // A list sorts after every string, so [key, []] bounds all records of a key from above.
  const range = (key: string): IDBKeyRange => IDBKeyRange.bound([key], [key, []]);
  return {
    problem: null,
    async put(record) {
      await db.put('records', record);
    },
    records: (key) => db.getAll('records', range(key)),
    delete: (key) => db.delete('records', range(key)),
    async list() {
      const counts = new Map<string, number>();
      for (const [key] of await db.getAllKeys('records')) counts.set(key, (counts.get(key) ?? 0) + 1);
      return [...counts].map(([key, records]) => ({ key, records }));
    },
  };
}

function notKept(thrown: unknown): BendscopeError {
  return new BendscopeError('E-STO-02', `Results cannot be stored here: ${toPlainError(thrown).message}. They are kept for this visit only.`, 'Export the plan or the probe before you close this tab.');
}
