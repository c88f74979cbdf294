/**
 * The worker boundary, types only (structure.md 5). Methods are calls on a comlink proxy; progress is a callback that
 * receives a union of events; errors cross as {name, message, hint}; arrays that leave the worker are transferred.
 */
import type { PlainError } from '../base/errors';
import type { Graph } from '../graph/types';
import type { Ledger } from '../graph/ledger';
import type { Policy, PolicyOptions, RecipeName, SiteId } from '../graph/policy';
import type { JointResult, NoiseFloor, Provenance, SiteResult, SiteScores } from '../graph/probe-record';

export interface CheckResult {
  readonly name: string;
  readonly passed: boolean;
  /** One line: what was compared and the worst difference. */
  readonly detail: string;
}

/** What the start-up check found. `ready`: measurements are offered. Codes E-GPU-10..14: ux.md 6.6. */
export interface DeviceReport {
  readonly status: 'ready' | 'software' | 'refused' | 'absent';
  readonly error: PlainError | null;
  readonly device: string;
  readonly isFallbackAdapter: boolean;
  readonly checks: readonly CheckResult[];
  readonly facts: Readonly<Record<string, string>>;
}

export interface DataSpec {
  /** `moby-dick`, `sotu` (built in), or `own` with text. */
  readonly source: 'moby-dick' | 'sotu' | 'own';
  readonly text?: string;
  readonly batches: number;
  readonly sequences: number;
  readonly tokens: number;
  readonly seed: number;
}

export interface OpenedModel {
  readonly graph: Graph;
  readonly modelName: string;
  /** Identity of weights and configuration together: data/hash `modelHash`. */
  readonly modelSha256: string;
}

export interface OpenedData {
  readonly dataName: string;
  readonly tokensSha256: string;
  readonly tokenCount: number;
  readonly firstWindow: string;
}

/** Model files as the page hands them over: built in by name, or dropped. */
export type ModelSource =
  | { readonly kind: 'built-in'; readonly name: string }
  | { readonly kind: 'files'; readonly name: string; readonly config: string; readonly weights: ArrayBuffer; readonly tokenizer: string | null };

/** What a probe measures beside isolated sites; each costs runs of its own. */
export interface ExtraMeasures {
  /** What of each site's shift stays, over batches and, under `sr`, over draws (method.md 1). */
  readonly persistent: boolean;
  /** Every site's angle of "all low except this one" (method.md 5). */
  readonly leaveOneOut: boolean;
}

export interface ProbeRequest {
  readonly runId: string;
  /** The model the page shows; the worker refuses a run on another one (E-RUN-05). */
  readonly modelSha256: string;
  readonly recipe: RecipeName;
  readonly options: PolicyOptions;
  readonly extra: ExtraMeasures;
  /** Sites to measure, in the order wanted; those that a stored run with the same key already holds are not run again. */
  readonly sites: readonly SiteId[];
  readonly data: DataSpec;
}

export interface JointRequest {
  readonly runId: string;
  readonly modelSha256: string;
  /** Of the plan: with the policy's options it says under which run the result is kept and how the plan is hashed. */
  readonly recipe: RecipeName;
  readonly policy: Policy;
  readonly planHash: string;
  readonly data: DataSpec;
}

export type ProbeEvent =
  | { readonly kind: 'phase'; readonly runId: string; readonly text: string }
  | { readonly kind: 'started'; readonly runId: string; readonly provenance: Provenance; readonly allocated: Ledger; readonly resumedSites: number }
  | { readonly kind: 'floor'; readonly runId: string; readonly floor: NoiseFloor; readonly referenceLoss: readonly number[] }
  /** Of some sites, each before its own `site`: of stored ones at once, then of each that is measured. */
  | { readonly kind: 'scores'; readonly runId: string; readonly scores: Readonly<Record<SiteId, SiteScores>> }
  | { readonly kind: 'site'; readonly runId: string; readonly site: SiteId; readonly result: SiteResult; readonly done: number; readonly total: number }
  | { readonly kind: 'leave-one-out'; readonly runId: string; readonly site: SiteId; readonly result: SiteResult; readonly done: number; readonly total: number }
  | { readonly kind: 'measuring'; readonly runId: string; readonly site: SiteId }
  | { readonly kind: 'joint'; readonly runId: string; readonly joint: JointResult }
  | { readonly kind: 'paused' | 'stopped' | 'finished'; readonly runId: string }
  /** Nothing was lost, but the user has to know: results are not kept, say. */
  | { readonly kind: 'warning'; readonly runId: string; readonly error: PlainError }
  /** The device was lost and looked for anew: what there is now. */
  | { readonly kind: 'device'; readonly runId: string; readonly report: DeviceReport }
  | { readonly kind: 'failed'; readonly runId: string; readonly error: PlainError };

export interface WorkerApi {
  /** Finds the adapter, runs the start-up check. `useSoftware` accepts a fallback adapter; `fault` is a test's injected fault. */
  start(options: { readonly useSoftware: boolean; readonly fault?: string; readonly base: string }): Promise<DeviceReport>;
  /** Works without a GPU. Throws named errors for bad files. */
  openModel(source: ModelSource): Promise<OpenedModel>;
  openData(spec: DataSpec): Promise<OpenedData>;
  runProbe(request: ProbeRequest, onEvent: (event: ProbeEvent) => void): Promise<void>;
  verifyJointly(request: JointRequest, onEvent: (event: ProbeEvent) => void): Promise<JointResult>;
  /** Heard within one submission. pause keeps the run in memory; cancel ends it; measured cells stay stored. */
  pause(runId: string): Promise<void>;
  resume(runId: string): Promise<void>;
  cancel(runId: string): Promise<void>;
}
