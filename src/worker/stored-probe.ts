/**
 * A probe over a store, the same in the browser and on the command line: what the store holds is not measured again, and
 * every result is stored before it is told. It knows neither device nor page nor file.
 */
import type { Policy, PolicyOptions, RecipeName, SiteId } from '../graph/policy';
import type { JointResult, SiteResult } from '../graph/probe-record';
import { lowSites, withPlanLocalError, type Isolated } from '../probe/low-sites';
import type { Probe, SiteExtras } from '../probe/probe';
import { answers, type RunStore, type StoredReference, type StoredRun } from './run-store';

export interface StoredProbeSink {
  onPhase?(text: string): void;
  onMeasuring?(site: SiteId): void;
  /** done: how many of `total` there are now, those that the store held included; `stored`: it is one of them. */
  onSite?(site: SiteId, result: SiteResult, done: number, total: number, stored: boolean): void;
}

/** What is asked of a probe. */
type Measures = Pick<Probe, 'referenceLosses' | 'measureFloor' | 'measureSites' | 'measureLeaveOneOut' | 'measureJoint'>;

const NO_EXTRAS: SiteExtras = { persistent: false };

export class StoredProbe {
  #probe: Measures;
  #store: RunStore;
  #key: string;
  #recipe: RecipeName;
  #options: PolicyOptions;

  /** key: the run of the store, of this recipe under these options (run-store runKey). */
  constructor(probe: Measures, store: RunStore, key: string, recipe: RecipeName, options: PolicyOptions) {
    this.#probe = probe;
    this.#store = store;
    this.#key = key;
    this.#recipe = recipe;
    this.#options = options;
  }

  /** All that is stored of this run by now. */
  found(): Promise<StoredRun> {
    return this.#store.load(this.#key);
  }

  /** Losses of the reference runs and the noise floor: they come first. */
  async reference(sink: StoredProbeSink = {}): Promise<StoredReference> {
    const { reference } = await this.found();
    const phase = sink.onPhase ? { onPhase: sink.onPhase.bind(sink) } : {};
    const referenceLoss = reference?.referenceLoss ?? (await this.#probe.referenceLosses(phase));
    const floor = await this.#probe.measureFloor(phase, reference?.floor ?? null);
    if (!reference) await this.#store.putReference(this.#key, { floor, referenceLoss });
    return { floor, referenceLoss };
  }

  /** Isolated sites; stored ones are told first. */
  async measureSites(sites: readonly SiteId[], extras: SiteExtras, sink: StoredProbeSink = {}): Promise<void> {
    const { sites: stored } = await this.found();
    const tell = this.#teller(sites.length, sink, (site, result) => this.#store.putSite(this.#key, site, result));
    await this.#probe.measureSites(tell.known(sites, stored, extras), this.#recipe, this.#options, extras, tell.sink);
  }

  /** "Everything low except this one"; local errors from the isolated sites that are stored. */
  async measureLeaveOneOut(sites: readonly SiteId[], sink: StoredProbeSink = {}): Promise<void> {
    const { leaveOneOut: stored } = await this.found();
    const tell = this.#teller(sites.length, sink, (site, result) => this.#store.putLeaveOneOut(this.#key, site, result));
    await this.#probe.measureLeaveOneOut(tell.known(sites, stored, NO_EXTRAS), await this.#isolated(), tell.sink);
  }

  /** A whole policy, from the store if it holds it; a local error that was not known then is added once it is. */
  async measureJoint(policy: Policy, planHash: string): Promise<JointResult> {
    const stored = (await this.found()).joint[planHash]?.result;
    const isolated = await this.#isolated();
    const result = stored?.status === 'measured' ? withPlanLocalError(stored, policy, isolated) : await this.#probe.measureJoint(policy, isolated);
    const joint: JointResult = { planHash, lowSites: lowSites(policy).length, result };
    if (result !== stored) await this.#store.putJoint(this.#key, joint);
    return joint;
  }

  async #isolated(): Promise<Isolated> {
    return { recipe: this.#recipe, options: this.#options, sites: (await this.found()).sites };
  }

  /** Counts what is told. `known` tells what is stored and returns what is missing; `sink` stores and tells what is measured. */
  #teller(total: number, sink: StoredProbeSink, put: (site: SiteId, result: SiteResult) => Promise<void>) {
    let done = 0;
    return {
      known: (sites: readonly SiteId[], stored: StoredRun['sites'], extras: SiteExtras): SiteId[] => {
        return sites.filter((site) => {
          const result = stored[site];
          if (!result || !answers(result, extras)) return true;
          sink.onSite?.(site, result, ++done, total, true);
          return false;
        });
      },
      sink: {
        ...(sink.onMeasuring ? { onMeasuring: sink.onMeasuring.bind(sink) } : {}),
        onSite: async (site: SiteId, result: SiteResult): Promise<void> => {
          await put(site, result);
          sink.onSite?.(site, result, ++done, total, false);
        },
      },
    };
  }
}
