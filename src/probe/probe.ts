/**
 * The probe: reference runs, floor runs, then one isolated site after the other over all batches, each streamed as it
 * is finished; and joint policies. It knows no worker, file or page: results go to a sink. Sites are independent of
 * each other and of their order, bit for bit, because each is compared with the same reference runs.
 */
import { toPlainError, BendscopeError } from '../base/errors';
import type { Checkpoint } from '../engine/executor';
import type { Session } from '../engine/session';
import { parseSiteId } from '../graph/sites';
import type { PassScheme, Policy, PolicyOptions, SiteId } from '../graph/policy';
import type { Measured, NoiseFloor, SiteResult } from '../graph/probe-record';
import { floorOf, floorOfPasses } from '../graph/noise-floor';
import { floorFlips, poolFloor } from './floor';
import { assertFinite, measureRun, pool, type RunMeasure } from './metrics';

export type Tokens = readonly (readonly number[])[];

export interface ProbeSink {
  onPhase?(text: string): void;
  onMeasuring?(site: SiteId): void;
  onReference?(losses: readonly number[]): void;
  onFloor?(floor: NoiseFloor): void | Promise<void>;
  onSite?(site: SiteId, result: SiteResult): void | Promise<void>;
}

export class Probe {
  #session: Session;
  #batches: readonly Tokens[];
  #places: number;
  #checkpoint: Checkpoint;
  #floor: NoiseFloor | null = null;

  /** places: reference runs the session keeps resident; with fewer than batches, references are run again, same bits. */
  constructor(session: Session, batches: readonly Tokens[], places: number, checkpoint: Checkpoint = () => undefined) {
    this.#session = session;
    this.#batches = batches;
    this.#places = places;
    this.#checkpoint = checkpoint;
  }

  /** Makes batch k current with its reference run made. */
  async #use(k: number): Promise<void> {
    const tokens = this.#batches[k];
    if (!tokens) throw new BendscopeError('E-BUG-03', `batch ${k} of ${this.#batches.length} does not exist`);
    this.#session.setBatch(tokens, k % this.#places);
    assertFinite(this.#session.referenceRun ?? (await this.#session.runReference(undefined, this.#checkpoint)), `reference of batch ${k}`);
  }

  /** Loss of the reference policy, one value a batch. */
  async referenceLosses(sink: ProbeSink = {}): Promise<number[]> {
    const losses: number[] = [];
    for (let k = 0; k < this.#batches.length; k++) {
      sink.onPhase?.(`reference gradient ${k + 1}/${this.#batches.length}`);
      await this.#use(k);
      losses.push(this.#session.referenceRun?.loss ?? NaN);
    }
    sink.onReference?.(losses);
    return losses;
  }

  /** Floor of both directions; a stored one (resume) is taken as it is. */
  async measureFloor(sink: ProbeSink = {}, stored: NoiseFloor | null = null): Promise<NoiseFloor> {
    if (stored) {
      this.#floor = stored;
      return stored;
    }
    const perRun: { batch: number; node: string; what: 'y' | 'dy'; angleDeg: number }[] = [];
    const flips = floorFlips(this.#session.graph);
    for (let k = 0; k < this.#batches.length; k++) {
      await this.#use(k);
      for (const flip of flips) {
        sink.onPhase?.(`noise floor ${perRun.length + 1}/${flips.length * this.#batches.length}`);
        const run = await this.#measure({ flip }, `floor run ${flip.node} ${flip.what}`);
        perRun.push({ batch: k, node: flip.node, what: flip.what, angleDeg: run.angleDeg });
      }
    }
    this.#floor = poolFloor(perRun);
    await sink.onFloor?.(this.#floor);
    return this.#floor;
  }

  /** Isolated sites, in the order given. A site that fails is a result with its reason; only a broken device throws. */
  async measureSites(sites: readonly SiteId[], recipe: PassScheme, options: PolicyOptions, sink: ProbeSink): Promise<void> {
    const floor = this.#floor;
    if (!floor) throw new BendscopeError('E-BUG-03', 'measureSites: the floor comes first');
    for (const group of this.#groups(sites)) {
      const runs = new Map<SiteId, RunMeasure[]>();
      const failures = new Map<SiteId, SiteResult>();
      const elapsed = new Map<SiteId, number>();
      for (let k = 0; k < this.#batches.length; k++) {
        await this.#use(k);
        for (const site of group) {
          if (failures.has(site)) continue;
          if (k === 0) sink.onMeasuring?.(site);
          const before = performance.now();
          try {
            const policy: Policy = { reference: 'bf16', passes: { [site]: recipe }, options };
            const run = await this.#measure({ policy, localErrorOf: site }, `${site}, batch ${k}`);
            runs.set(site, [...(runs.get(site) ?? []), run]);
          } catch (thrown) {
            failures.set(site, failed(thrown));
          }
          elapsed.set(site, (elapsed.get(site) ?? 0) + performance.now() - before);
        }
      }
      for (const site of group) {
        await sink.onSite?.(site, failures.get(site) ?? this.#pooled(site, runs.get(site) ?? [], elapsed.get(site) ?? 0, floor));
      }
    }
  }

  /** A whole policy at once, over all batches; its floor is that of its low passes. */
  async measureJoint(policy: Policy): Promise<SiteResult> {
    const floor = this.#floor;
    if (!floor) throw new BendscopeError('E-BUG-03', 'measureJoint: the floor comes first');
    const started = performance.now();
    const runs: RunMeasure[] = [];
    for (let k = 0; k < this.#batches.length; k++) {
      await this.#use(k);
      try {
        runs.push(await this.#measure({ policy }, `joint, batch ${k}`));
      } catch (thrown) {
        return failed(thrown);
      }
    }
    const passes = Object.keys(policy.passes).map((id) => parseSiteId(this.#session.graph, id).pass);
    return pool(runs, floorOfPasses(passes, floor), performance.now() - started);
  }

  async #measure(variant: Parameters<Session['runVariant']>[0], what: string): Promise<RunMeasure> {
    const reference = this.#session.referenceRun;
    if (!reference) throw new BendscopeError('E-BUG-03', `${what}: no reference run`);
    return measureRun(this.#session.graph, await this.#session.runVariant(variant, this.#checkpoint), reference, what);
  }

  #pooled(site: SiteId, runs: readonly RunMeasure[], elapsedMs: number, floor: NoiseFloor): Measured {
    return pool(runs, floorOf(parseSiteId(this.#session.graph, site).pass, floor), elapsedMs);
  }

  /** With every reference resident one site at a time; else twelve, to spread the cost of running references again. */
  #groups(sites: readonly SiteId[]): SiteId[][] {
    const size = this.#places >= this.#batches.length ? 1 : 12;
    const groups: SiteId[][] = [];
    for (let i = 0; i < sites.length; i += size) groups.push(sites.slice(i, i + size));
    return groups;
  }
}

/** A fault of this one site -> its result. A lost device, a cancelled run and our own faults are not the site's: thrown on. */
function failed(thrown: unknown): SiteResult {
  const { name, message } = toPlainError(thrown);
  if (name !== 'E-RUN-02') throw thrown;
  return { status: 'failed', errorName: name, reason: message };
}
