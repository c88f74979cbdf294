/**
 * A probe over a store, the same in the browser and on the command line: what the store holds is not measured again, and
 * every result is stored before it is told. It knows neither device nor page nor file.
 */
import type { Policy, PolicyOptions, RecipeName, SiteId } from '../graph/policy';
import type { JointResult, SiteResult, SiteScores } from '../graph/probe-record';
import { lowSites, withPlanLocalError, type Isolated } from '../probe/low-sites';
import type { Probe, SiteExtras } from '../probe/probe';
import { answers, type RunStore, type StoredReference, type StoredRun } from './run-store';

export interface StoredProbeSink {
  onPhase?(text: string): void;
  onMeasuring?(site: SiteId): void;
  /** Of some of the sites, before their results; a later one of a site replaces an earlier. */
  onScores?(scores: Readonly<Record<SiteId, SiteScores>>): void;
  /** done: how many of `total` there are now, those that the store held included; `stored`: it is one of them. */
  onSite?(site: SiteId, result: SiteResult, done: number, total: number, stored: boolean): void;
}

/** What is asked of a probe. */
type Measures = Pick<Probe, 'referenceLosses' | 'measureFloor' | 'measureScores' | 'measureSites' | 'measureLeaveOneOut' | 'measureJoint' | 'policyWithout'>;

const NO_EXTRAS: SiteExtras = { persistent: false };

export class StoredProbe {
  #probe: Measures;
  #store: RunStore;
  #key: string;
  #recipe: RecipeName;
  #options: PolicyOptions;
  /** The isolated sites asked for: local errors of plans come from them alone. null: none was, all that is stored counts. */
  #asked: ReadonlySet<SiteId> | null = null;

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
    const phase = phasesOf(sink);
    const referenceLoss = reference?.referenceLoss ?? (await this.#probe.referenceLosses(phase));
    const floor = await this.#probe.measureFloor(phase, reference?.floor ?? null);
    if (!reference) await this.#store.putReference(this.#key, { floor, referenceLoss });
    return { floor, referenceLoss };
  }

  /** Isolated sites with what other methods would say of them; stored ones are told first, scored if they have none yet. */
  async measureSites(sites: readonly SiteId[], extras: SiteExtras, sink: StoredProbeSink = {}): Promise<void> {
    this.#asked = new Set([...(this.#asked ?? []), ...sites]);
    const { sites: stored, scores } = await this.found();
    const kept = sites.filter((site) => answers(stored[site], extras));
    const scored = Object.fromEntries(kept.flatMap((site) => (scores[site] ? [[site, scores[site]] as const] : [])));
    if (Object.keys(scored).length > 0) sink.onScores?.(scored);
    const onScores = async (site: SiteId, found: SiteScores): Promise<void> => {
      await this.#store.putScores(this.#key, site, found);
      sink.onScores?.({ [site]: found });
    };
    await this.#probe.measureScores(kept.filter((site) => !scores[site]), this.#recipe, this.#options, { ...phasesOf(sink), onScores });
    const tell = this.#teller(sites.length, sink, (site, result) => this.#store.putSite(this.#key, site, result));
    await this.#probe.measureSites(tell.known(sites, stored, extras), this.#recipe, this.#options, extras, { ...tell.sink, onScores });
  }

  /** "Everything low except this one", as told: local errors from the isolated sites asked for. */
  async measureLeaveOneOut(sites: readonly SiteId[], sink: StoredProbeSink = {}): Promise<Readonly<Record<SiteId, SiteResult>>> {
    const { leaveOneOut: stored } = await this.found();
    const isolated = await this.#isolated();
    const found: Record<SiteId, SiteResult> = {};
    const tell = this.#teller(sites.length, {
      ...sink,
      onSite: (site, result, ...count) => {
        const policy = this.#probe.policyWithout(site, this.#recipe, this.#options);
        const whole = result.status === 'measured' ? withPlanLocalError(result, policy, isolated) : result;
        found[site] = whole;
        sink.onSite?.(site, whole, ...count);
      },
    }, (site, result) => this.#store.putLeaveOneOut(this.#key, site, result));
    await this.#probe.measureLeaveOneOut(tell.known(sites, stored, NO_EXTRAS), isolated, tell.sink);
    return found;
  }

  /** A whole policy, from the store if it holds it; its local error from the isolated sites asked for, as known now. */
  async measureJoint(policy: Policy, planHash: string): Promise<JointResult> {
    const stored = (await this.found()).joint[planHash]?.result;
    const isolated = await this.#isolated();
    const result = stored?.status === 'measured' ? withPlanLocalError(stored, policy, isolated) : await this.#probe.measureJoint(policy, isolated);
    const joint: JointResult = { planHash, lowSites: lowSites(policy).length, result };
    await this.#store.putJoint(this.#key, joint);
    return joint;
  }

  async #isolated(): Promise<Isolated> {
    const { sites } = await this.found();
    const counted = Object.entries(sites).filter(([id]) => this.#asked?.has(id) ?? true);
    return { recipe: this.#recipe, options: this.#options, sites: Object.fromEntries(counted) };
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

function phasesOf(sink: StoredProbeSink): Pick<StoredProbeSink, 'onPhase'> {
  return sink.onPhase ? { onPhase: sink.onPhase.bind(sink) } : {};
}
