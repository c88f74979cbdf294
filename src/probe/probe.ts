/**
 * The probe: reference runs, floor runs, then one isolated site after the other over all batches, each streamed as it
 * is finished; sites left out of an all-low plan; and joint policies. It knows no worker, file or page: results go to a
 * sink. Sites are independent of each other and of their order, bit for bit, because each is compared with the same
 * reference runs and takes random numbers addressed by batch and draw.
 */
import { BendscopeError } from '../base/errors';
import type { Checkpoint } from '../engine/executor';
import type { RunResult, Variant } from '../engine/run';
import type { Session } from '../engine/session';
import { STOCHASTIC_DRAWS, type ProbeRun } from '../graph/ledger';
import { paintableSites, parseSiteId } from '../graph/sites';
import type { Policy, PolicyOptions, RecipeName, SiteId } from '../graph/policy';
import type { Failed, NoiseFloor, Persistence, SiteResult, SiteScores } from '../graph/probe-record';
import { floorOf, floorOfPasses } from '../graph/noise-floor';
import { floorFlips, poolFloor } from './floor';
import { lowSites, policyLowering, withPlanLocalError, type Isolated } from './low-sites';
import { assertFinite, failed, measureRun, pool, type RunMeasure } from './metrics';
import { persistentShift, whyNotOverBatches, whyNotOverDraws } from './persistence';
import { batchScores, poolScores } from './scores';

export type Tokens = readonly (readonly number[])[];

export interface ProbeSink {
  onPhase?(text: string): void;
  onMeasuring?(site: SiteId): void;
  onReference?(losses: readonly number[]): void;
  onFloor?(floor: NoiseFloor): void | Promise<void>;
  /** What other methods would say of a site: before its result. */
  onScores?(site: SiteId, scores: SiteScores): void | Promise<void>;
  onSite?(site: SiteId, result: SiteResult): void | Promise<void>;
}

/** What is measured of a site beside its isolated angle. */
export interface SiteExtras {
  readonly persistent: boolean;
}

/** The runs of one site over all batches, or why there are none. */
interface Cell {
  readonly runs: readonly RunMeasure[];
  readonly failure: Failed | null;
  readonly elapsedMs: number;
}

export class Probe {
  #session: Session;
  #batches: readonly Tokens[];
  #places: number;
  #shiftSets: number;
  #checkpoint: Checkpoint;
  #floor: NoiseFloor | null = null;

  /**
   * run: what the session was made for (session-use.ts). Where it keeps fewer reference runs resident than there are
   * batches, references are run again, same bits.
   */
  constructor(session: Session, batches: readonly Tokens[], run: Pick<ProbeRun, 'batches' | 'shiftSets'>, checkpoint: Checkpoint = () => undefined) {
    this.#session = session;
    this.#batches = batches;
    this.#places = run.batches;
    this.#shiftSets = run.shiftSets ?? 0;
    this.#checkpoint = checkpoint;
  }

  /** Makes batch k current with its reference run made -> that run. */
  async #use(k: number): Promise<RunResult> {
    const tokens = this.#batches[k];
    if (!tokens) throw new BendscopeError('E-BUG-03', `batch ${k} of ${this.#batches.length} does not exist`);
    this.#session.setBatch(tokens, k % this.#places);
    const reference = this.#session.referenceRun ?? (await this.#session.runReference(undefined, this.#checkpoint));
    assertFinite(reference, `reference of batch ${k}`);
    return reference;
  }

  /** Loss of the reference policy, one value a batch. */
  async referenceLosses(sink: ProbeSink = {}): Promise<number[]> {
    const losses: number[] = [];
    for (let k = 0; k < this.#batches.length; k++) {
      sink.onPhase?.(`reference gradient ${k + 1}/${this.#batches.length}`);
      losses.push((await this.#use(k)).loss);
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

  /** Scores of sites that were measured without them; those that `measureSites` measures come with it, same bits, at no cost. */
  async measureScores(sites: readonly SiteId[], recipe: RecipeName, options: PolicyOptions, sink: ProbeSink): Promise<void> {
    const { graph } = this.#session;
    for (const group of this.#groups(sites)) {
      const found = group.map((site): [SiteId, SiteScores[]] => [site, []]);
      sink.onPhase?.(`scores of other methods for ${group.join(', ')}`);
      for (let k = 0; k < this.#batches.length; k++) {
        const reference = await this.#use(k);
        for (const [site, batches] of found) {
          const output = await this.#session.measureOutput(site, policyLowering(graph, [site], recipe, options), { step: k, draw: 0 }, this.#checkpoint);
          batches.push(batchScores(graph, output, reference));
        }
      }
      for (const [site, batches] of found) await sink.onScores?.(site, poolScores(batches));
    }
  }

  /** Isolated sites, in the order given. A site that fails is a result with its reason; only a broken device throws. */
  async measureSites(sites: readonly SiteId[], recipe: RecipeName, options: PolicyOptions, extras: SiteExtras, sink: ProbeSink): Promise<void> {
    const floor = this.#measuredFloor();
    const { graph } = this.#session;
    const whyNot = whyNotOverBatches(this.#batches.length, Math.min(this.#places, this.#shiftSets));
    const keep = extras.persistent && whyNot === null;
    const variant = (site: SiteId, step: number, draw = 0): Variant => ({ policy: policyLowering(graph, [site], recipe, options), random: { step, draw } });
    const cells = this.#cells(sites, (site, k) => ({ ...variant(site, k), localErrorOf: site, ...(keep ? { keepShift: k } : {}) }), sink);
    for await (const [site, { runs, failure, elapsedMs }] of cells) {
      await sink.onScores?.(site, poolScores(failure ? [] : runs.map(({ scores }) => scores)));
      if (failure) {
        await sink.onSite?.(site, failure);
        continue;
      }
      const before = performance.now();
      const { pass } = parseSiteId(graph, site);
      let persistent: Persistence | null = null;
      if (extras.persistent) {
        const overBatches = whyNot === null ? persistentShift(await this.#session.readGram(this.#batches.length), runs.map((run) => run.referenceSquared)) : { reason: whyNot };
        const whyNotDraws = whyNotOverDraws(pass, recipe, options);
        const overDraws = whyNotDraws === null ? await this.#overDraws((draw) => variant(site, 0, draw), site) : { reason: whyNotDraws };
        persistent = { overBatches, overDraws };
      }
      const result = pool(runs, floorOf(pass, floor), elapsedMs + performance.now() - before);
      await sink.onSite?.(site, persistent ? { ...result, persistent } : result);
    }
  }

  /** Every site of the recipe low but this one. */
  policyWithout(site: SiteId, recipe: RecipeName, options: PolicyOptions): Policy {
    const { graph } = this.#session;
    return policyLowering(graph, paintableSites(graph, recipe).map(({ id }) => id).filter((id) => id !== site), recipe, options);
  }

  /**
   * "Everything low except this one" (method.md 5): every site of the recipe is low but the one named. Local errors are
   * sums over the low sites of isolated runs, where those are all there.
   */
  async measureLeaveOneOut(sites: readonly SiteId[], isolated: Isolated, sink: ProbeSink): Promise<void> {
    const floor = this.#measuredFloor();
    const policyOf = (site: SiteId): Policy => this.policyWithout(site, isolated.recipe, isolated.options);
    for await (const [site, { runs, failure, elapsedMs }] of this.#cells(sites, (id, k) => ({ policy: policyOf(id), random: { step: k, draw: 0 } }), sink)) {
      await sink.onSite?.(site, failure ?? this.#plan(policyOf(site), runs, isolated, elapsedMs, floor));
    }
  }

  /** A whole policy at once, over all batches; its floor is that of its low sites. isolated: where local errors may come from. */
  async measureJoint(policy: Policy, isolated?: Isolated): Promise<SiteResult> {
    const floor = this.#measuredFloor();
    const started = performance.now();
    const runs: RunMeasure[] = [];
    for (let k = 0; k < this.#batches.length; k++) {
      await this.#use(k);
      try {
        runs.push(await this.#measure({ policy, random: { step: k, draw: 0 } }, `joint, batch ${k}`));
      } catch (thrown) {
        return failed(thrown);
      }
    }
    return this.#plan(policy, runs, isolated, performance.now() - started, floor);
  }

  #plan(policy: Policy, runs: readonly RunMeasure[], isolated: Isolated | undefined, elapsedMs: number, floor: NoiseFloor): SiteResult {
    const passes = lowSites(policy).map(([id]) => parseSiteId(this.#session.graph, id).pass);
    const result = pool(runs, floorOfPasses(passes, floor), elapsedMs);
    return isolated ? withPlanLocalError(result, policy, isolated) : result;
  }

  /** Repeated stochastic roundings of the first batch. */
  async #overDraws(variantOf: (draw: number) => Variant, site: SiteId): Promise<Persistence['overDraws']> {
    await this.#use(0);
    let referenceSquared = NaN;
    for (let draw = 0; draw < STOCHASTIC_DRAWS; draw++) {
      try {
        ({ referenceSquared } = await this.#measure({ ...variantOf(draw), keepShift: draw }, `${site}, draw ${draw}`));
      } catch (thrown) {
        return { reason: failed(thrown).reason };
      }
    }
    return persistentShift(await this.#session.readGram(STOCHASTIC_DRAWS), [referenceSquared]);
  }

  /** One site after the other over all batches, a group at a time; a failure ends its own site only. */
  async *#cells(sites: readonly SiteId[], variantOf: (site: SiteId, k: number) => Variant, sink: ProbeSink): AsyncGenerator<[SiteId, Cell]> {
    for (const group of this.#groups(sites)) {
      const cells = new Map(group.map((site) => [site, { runs: new Array<RunMeasure>(), failure: null as Failed | null, elapsedMs: 0 }]));
      for (let k = 0; k < this.#batches.length; k++) {
        await this.#use(k);
        for (const [site, cell] of cells) {
          if (cell.failure) continue;
          if (k === 0) sink.onMeasuring?.(site);
          const before = performance.now();
          try {
            cell.runs.push(await this.#measure(variantOf(site, k), `${site}, batch ${k}`));
          } catch (thrown) {
            cell.failure = failed(thrown);
          }
          cell.elapsedMs += performance.now() - before;
        }
      }
      yield* cells;
    }
  }

  async #measure(variant: Variant, what: string): Promise<RunMeasure> {
    const reference = this.#session.referenceRun;
    if (!reference) throw new BendscopeError('E-BUG-03', `${what}: no reference run`);
    return measureRun(this.#session.graph, await this.#session.runVariant(variant, this.#checkpoint), reference, what);
  }

  #measuredFloor(): NoiseFloor {
    if (!this.#floor) throw new BendscopeError('E-BUG-03', 'probe: the floor comes first');
    return this.#floor;
  }

  /** With every reference resident one site at a time; else twelve, to spread the cost of running references again. */
  #groups(sites: readonly SiteId[]): SiteId[][] {
    const size = this.#places >= this.#batches.length ? 1 : 12;
    const groups: SiteId[][] = [];
    for (let i = 0; i < sites.length; i += size) groups.push(sites.slice(i, i + size));
    return groups;
  }
}
