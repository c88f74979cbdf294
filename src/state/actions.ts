/**
 * Everything that has an effect: talks to the worker, changes the stores, answers gestures. UI components call these and
 * hold no logic of their own. A failure becomes a sticky notice with its code; nothing that was there is lost.
 */
import { exportAllocation, importAllocation } from '../allocate/allocation-file';
import { paint as paintPlan, planAt, planPolicy, presetPlan, PRESETS, type Plan } from '../allocate/plan';
import { parseShareLink, sharedFormats, shareLink } from '../allocate/share-link';
import { BendscopeError, toPlainError } from '../base/errors';
import type { DataSpec, ModelSource, ProbeEvent, WorkerApi } from '../bridge/protocol';
import { coarseOrder } from '../graph/coarse-order';
import { paintableSites } from '../graph/sites';
import type { PolicyOptions, SiteFormat, SiteId } from '../graph/policy';
import { PROBE_SCHEMA, type ProbeRecord } from '../graph/probe-record';
import { gpt2Graph, type Gpt2Config } from '../models/gpt2';
import { commit, openDocument, restoreDocument, type DocumentStore } from './document';
import { addSite, dismiss, notify, notifyError, openFacts, switchResults, type FactsStore } from './facts';
import { evidenceOf, frontierOf, hashOfPlan, provenanceOf, sitesOf } from './selectors';
import type { ViewStore } from './view';

export interface Stores {
  readonly document: DocumentStore;
  readonly facts: FactsStore;
  readonly view: ViewStore;
}

export interface StoredExample {
  readonly config: Gpt2Config;
  readonly record: ProbeRecord;
}

export type Actions = ReturnType<typeof createActions>;

const plural = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
export const formatName = (format: SiteFormat): string => (format === 'bf16' ? 'BF16' : format.toUpperCase());

/** `worker` comes late (its script loads after the first paint); `base` is the page's address, ending in `/`. */
export function createActions(stores: Stores, worker: () => Promise<WorkerApi>, base: string, storage: Pick<Storage, 'getItem'> | null) {
  const { document, facts, view } = stores;
  let runs = 0;
  let opened: Promise<void> | null = null;
  let isBuiltIn = true;

  const requirePlan = (): Plan | null => document.getState().plan;
  /** The worker's word for "you pressed Stop": no fault, so no notice. */
  const report = (thrown: unknown): void => {
    const error = toPlainError(thrown);
    if (error.name !== 'E-RUN-03') notifyError(facts, error);
  };
  const tryOr = async <T>(run: () => Promise<T>): Promise<T | null> => {
    try {
      return await run();
    } catch (thrown) {
      notifyError(facts, toPlainError(thrown));
      return null;
    }
  };
  const freshPlan = (): Plan | null => {
    const { graph, recipe } = facts.getState();
    const allLow = PRESETS[0];
    return graph && allLow ? { ...presetPlan(allLow, sitesOf(graph), recipe), name: 'Plan' } : null;
  };
  const begin = (sha: string): void => {
    view.setState({ primary: null, selection: new Set(), hovered: null, preview: null });
    if (storage && restoreDocument(document, sha, storage)) return;
    const plan = freshPlan();
    if (plan) openDocument(document, plan, sha);
  };

  const onEvent = (kind: 'probe' | 'joint') => (event: ProbeEvent): void => {
    const run = facts.getState().run;
    const update = (part: Partial<NonNullable<typeof run>>): void => {
      const now = facts.getState().run;
      if (now?.runId === event.runId) facts.setState({ run: { ...now, ...part } });
    };
    switch (event.kind) {
      case 'started':
        facts.setState({ provenance: event.provenance, plannedBytes: event.plannedBytes });
        update({ plannedBytes: event.plannedBytes, done: 0, ...(event.resumedSites > 0 ? { phase: `${plural(event.resumedSites, 'cell')} kept from before` } : {}) });
        break;
      case 'phase':
        update({ phase: event.text });
        break;
      case 'floor':
        facts.setState({ floor: event.floor, referenceLoss: event.referenceLoss });
        break;
      case 'measuring':
        update({ measuring: event.site, phase: `measuring ${event.site}` });
        break;
      case 'site':
        addSite(facts, event.site, event.result);
        update({ done: event.done, total: event.total, measuring: null });
        break;
      case 'joint':
        facts.setState((s) => ({ joint: { ...s.joint, [event.joint.planHash]: event.joint } }));
        break;
      case 'device':
        facts.setState({ device: event.report });
        break;
      case 'warning':
        notify(facts, { kind: 'warning', ...event.error });
        break;
      case 'paused':
        update({ status: 'paused' });
        break;
      case 'finished':
      case 'stopped': {
        const seconds = run ? ((Date.now() - run.startedAtMs) / 1000).toFixed(1) : '0';
        const what = kind === 'probe' ? `Probe ${run?.done ?? 0}/${run?.total ?? 0}` : 'Joint measurement';
        facts.setState({ run: null, lastRun: `${what} ${event.kind} after ${seconds} s` });
        break;
      }
      case 'failed':
        facts.setState({ run: null, lastRun: `stopped by ${event.error.name}` });
        notifyError(facts, event.error);
        break;
    }
  };

  const startRun = (kind: 'probe' | 'joint', total: number): string | null => {
    const state = facts.getState();
    if (state.run) return null;
    if (state.device?.status !== 'ready') {
      notifyError(facts, state.device?.error ?? { name: 'E-GPU-12', message: 'The GPU check has not finished.', hint: 'Wait a moment.' });
      return null;
    }
    runs += 1;
    const runId = `${kind}-${Date.now()}-${runs}`;
    facts.setState({ run: { kind, runId, status: 'running', phase: 'opening model and text', measuring: null, done: 0, total, startedAtMs: Date.now(), plannedBytes: null } });
    return runId;
  };
  const endRun = (runId: string): void => {
    if (facts.getState().run?.runId === runId) facts.setState({ run: null });
  };
  /** The worker holds the built-in model only once it is needed. */
  const ensureModel = async (api: WorkerApi): Promise<void> => {
    if (!opened && !isBuiltIn) throw new BendscopeError('E-RUN-04', `${facts.getState().modelName}: the measuring worker was started anew and no longer holds this model.`, 'Drop its files again; the plan and all results are kept.');
    opened ??= api.openModel({ kind: 'built-in', name: facts.getState().modelName }).then(
      () => undefined,
      (thrown: unknown) => {
        opened = null;
        throw thrown;
      },
    );
    await opened;
  };

  const setFormats = (ids: Iterable<SiteId>, format: SiteFormat, label?: string): void => {
    const plan = requirePlan();
    if (!plan) return;
    const result = paintPlan(plan, ids, format);
    if (result.changed.length > 0) commit(document, result.plan, label ?? `paint ${plural(result.changed.length, 'cell')} to ${formatName(format)}`);
    if (result.lockedUnchanged > 0) notify(facts, { kind: 'info', name: '', message: `${plural(result.lockedUnchanged, 'locked cell')} unchanged`, hint: '' });
  };

  return {
    /** Draws the stored example at once; nothing is fetched here and no worker is needed. */
    openStored(example: StoredExample): void {
      const graph = gpt2Graph(example.config);
      openFacts(facts, graph, example.config.model, example.record.provenance.modelSha256, example.record);
      isBuiltIn = true;
      opened = null;
      const { provenance } = example.record;
      facts.setState((s) => ({ data: { ...s.data, batches: provenance.batches, sequences: provenance.sequences, tokens: provenance.tokens, seed: provenance.seed } }));
      begin(provenance.modelSha256);
    },

    /** Runs the start-up check; the chip shows the report. */
    async checkDevice(useSoftware = false, fault?: string): Promise<void> {
      facts.setState({ checking: true });
      const found = await tryOr(async () => (await worker()).start({ useSoftware, base, ...(fault === undefined ? {} : { fault }) }));
      facts.setState({ checking: false, ...(found ? { device: found } : {}) });
    },

    /** The worker crashed or never loaded: what it held is gone, what the page holds stays. */
    workerStopped(error: BendscopeError): void {
      opened = null;
      facts.setState({ checking: false, run: null, device: { status: 'absent', error: toPlainError(error), device: 'none', isFallbackAdapter: false, checks: [], facts: {} } });
      notifyError(facts, toPlainError(error));
    },

    /** Opens dropped or built-in files. On failure the open model stays as it is. */
    async openModel(source: ModelSource): Promise<boolean> {
      const model = await tryOr(async () => (await worker()).openModel(source));
      if (!model) return false;
      openFacts(facts, model.graph, model.modelName, model.modelSha256, null);
      facts.setState((s) => ({ openedData: null, data: { ...s.data, tokens: Math.min(s.data.tokens, model.graph.maxTokens) } }));
      opened = Promise.resolve();
      isBuiltIn = source.kind === 'built-in';
      begin(model.modelSha256);
      return true;
    },

    async setData(spec: DataSpec): Promise<boolean> {
      if (facts.getState().run) return false;
      const data = await tryOr(async () => {
        const api = await worker();
        await ensureModel(api);
        return api.openData(spec);
      });
      if (!data) return false;
      switchResults(facts, { data: spec });
      facts.setState({ openedData: data });
      return true;
    },
    /** Recipe switches. Results under the old ones are put aside, not mixed with the new. */
    setOptions(options: PolicyOptions): void {
      if (!facts.getState().run) switchResults(facts, { options });
    },

    /** Asks the worker what a run would hold on the device, before it starts. */
    async planBytes(): Promise<void> {
      const { data, modelSha256 } = facts.getState();
      const plannedBytes = await tryOr(async () => {
        const api = await worker();
        await ensureModel(api);
        return api.plannedBytes(data);
      });
      const now = facts.getState();
      if (plannedBytes !== null && now.data === data && now.modelSha256 === modelSha256) facts.setState({ plannedBytes });
    },

    /** Measures all sites (or some: retry), coarse order first; measured ones come back from the store. */
    async runProbe(only?: readonly SiteId[]): Promise<void> {
      const { graph, modelSha256, recipe, options, data } = facts.getState();
      if (!graph) return;
      const sites = only ?? coarseOrder(graph);
      const runId = startRun('probe', sites.length);
      if (runId === null) return;
      try {
        const api = await worker();
        await ensureModel(api);
        facts.setState({ openedData: await api.openData(data) });
        await api.runProbe({ runId, modelSha256, recipe, options, sites, data }, onEvent('probe'));
      } catch (thrown) {
        report(thrown);
      } finally {
        endRun(runId);
      }
    },

    async verifyJointly(target?: Plan): Promise<void> {
      const { graph, modelSha256, options, data } = facts.getState();
      const plan = target ?? requirePlan();
      const planHash = plan ? hashOfPlan(facts.getState(), plan) : null;
      if (!graph || !plan || planHash === null) return;
      const runId = startRun('joint', 1);
      if (runId === null) return;
      try {
        const api = await worker();
        await ensureModel(api);
        await api.verifyJointly({ runId, modelSha256, policy: planPolicy(plan.formats, sitesOf(graph), options), planHash, data }, onEvent('joint'));
      } catch (thrown) {
        report(thrown);
      } finally {
        endRun(runId);
      }
    },

    async pause(): Promise<void> {
      const { run } = facts.getState();
      if (run) await tryOr(async () => (await worker()).pause(run.runId));
    },
    async resume(): Promise<void> {
      const { run } = facts.getState();
      if (!run) return;
      facts.setState({ run: { ...run, status: 'running' } });
      await tryOr(async () => (await worker()).resume(run.runId));
    },
    async stop(): Promise<void> {
      const { run } = facts.getState();
      if (run) await tryOr(async () => (await worker()).cancel(run.runId));
    },

    dismiss(id: number): void {
      dismiss(facts, id);
    },
    tell(message: string): void {
      notify(facts, { kind: 'info', name: '', message, hint: '' });
    },
    /** A fault found on the page itself (a dropped file that is not one of ours). */
    fault(thrown: unknown): void {
      notifyError(facts, toPlainError(thrown));
    },

    setFormats,
    /** Sets the format of selected cells, or of one. */
    paintSelection(format: SiteFormat): void {
      const { selection, primary } = view.getState();
      setFormats(selection.size > 0 ? selection : primary === null ? [] : [primary], format);
    },
    setLocked(ids: readonly SiteId[], locked: boolean): void {
      const plan = requirePlan();
      const { graph } = facts.getState();
      if (!plan || !graph) return;
      const paintable = new Set(paintableSites(graph).map((site) => site.id));
      const next: Record<SiteId, true> = { ...plan.locked };
      const changed = ids.filter((id) => paintable.has(id) && (plan.locked[id] === true) !== locked);
      for (const id of changed) {
        if (locked) next[id] = true;
        else Reflect.deleteProperty(next, id);
      }
      if (changed.length > 0) commit(document, { ...plan, locked: next }, `${locked ? 'lock' : 'unlock'} ${plural(changed.length, 'cell')}`);
    },
    /** Shows a plan without committing it (a drag); null takes it away. */
    preview(plan: Plan | null): void {
      view.setState({ preview: plan });
    },
    commitPlan(plan: Plan, label: string): void {
      view.setState({ preview: null });
      commit(document, plan, label);
    },
    /** The plan at one point of the frontier (of a row or layer with `part`), keeping locks. */
    planAtPoint(index: number, part?: ReadonlySet<SiteId>): Plan | null {
      const plan = requirePlan();
      const state = facts.getState();
      if (!plan || !state.graph) return null;
      const frontier = frontierOf(state, plan, part);
      return frontier ? planAt(plan, sitesOf(state.graph), frontier, index, state.recipe, part) : null;
    },
    applyBaseline(id: string): void {
      const plan = requirePlan();
      const { graph, recipe } = facts.getState();
      const preset = PRESETS.find((p) => p.id === id);
      if (!plan || !graph || !preset) return;
      const formats = presetPlan(preset, sitesOf(graph), recipe).formats;
      const kept = Object.fromEntries(Object.keys(plan.locked).map((site) => [site, plan.formats[site] ?? 'bf16']));
      commit(document, { ...plan, formats: { ...formats, ...kept } }, `apply ${preset.name}`);
    },
    rename(name: string): void {
      const plan = requirePlan();
      if (plan && name.trim() !== '' && name !== plan.name) commit(document, { ...plan, name }, `rename to ${name}`);
    },
    setNotes(notes: string): void {
      const plan = requirePlan();
      if (plan && notes !== plan.notes) commit(document, { ...plan, notes }, 'edit notes');
    },
    undo(): void {
      document.temporal.getState().undo();
    },
    redo(): void {
      document.temporal.getState().redo();
    },

    /** The text of allocation.json, or null without a plan. */
    exportAllocation(): string | null {
      const plan = requirePlan();
      const state = facts.getState();
      const { graph, modelSha256, recipe, options, joint } = state;
      return plan && graph ? exportAllocation(plan, { ...evidenceOf(state), provenance: provenanceOf(state), joint }, { graph, modelSha256, recipe, options }) : null;
    },
    /** The text of a probe record: every figure on the page, or null while there is none. */
    exportProbe(): string | null {
      const state = facts.getState();
      const provenance = provenanceOf(state);
      if (provenance === null) return null;
      const { recipe, options, referenceLoss, floor, sites, joint } = state;
      const record: ProbeRecord = { schema: PROBE_SCHEMA, recipe, options, provenance, referenceLoss, floor, sites, joint };
      return `${JSON.stringify(record, null, 1)}\n`;
    },
    /** Takes over a plan file as one undo step. On failure nothing changes. */
    importAllocation(text: string, fileName: string): boolean {
      const { graph, modelSha256 } = facts.getState();
      try {
        if (!graph) throw new BendscopeError('E-RUN-04', 'import: expected an open model, got none', 'Open a model first.');
        const imported = importAllocation(text, { graph, modelSha256 }, fileName);
        if (facts.getState().run && (imported.options.weights1d ?? false) !== (facts.getState().options.weights1d ?? false)) {
          throw new BendscopeError('E-RUN-06', `${fileName}: it switches 1D weights while a measurement runs.`, 'Stop the run, then import it again.');
        }
        switchResults(facts, { options: imported.options });
        commit(document, imported.plan, `import ${fileName}`);
        return true;
      } catch (thrown) {
        notifyError(facts, toPlainError(thrown));
        return false;
      }
    },
    /** The whole plan as a link, or null without a plan. */
    shareUrl(): string | null {
      const plan = requirePlan();
      const { graph, data, recipe, options } = facts.getState();
      if (!plan || !graph) return null;
      const fragment = shareLink(plan.formats, graph, { data: data.source, seed: data.seed, recipe, options });
      return `${base}${fragment.startsWith('#') ? '' : '#'}${fragment}`;
    },
    /** Applies a link's plan if it is of the open model; it never downloads or runs anything. */
    openLink(fragment: string): boolean {
      const { graph } = facts.getState();
      const plan = requirePlan();
      try {
        const link = parseShareLink(fragment);
        if (!link || !graph || !plan) return false;
        const formats = sharedFormats(link, graph);
        const { data } = facts.getState();
        const source = link.data === 'moby-dick' || link.data === 'sotu' ? link.data : data.source;
        if (source !== link.data) notify(facts, { kind: 'info', name: '', message: `The link's plan was made with a text this page has not (${link.data}); angles are for ${source}.`, hint: '' });
        if (source !== data.source || link.seed !== data.seed) facts.setState({ openedData: null });
        switchResults(facts, { options: link.options, data: { ...data, source, seed: link.seed } });
        commit(document, { ...plan, formats: { ...plan.formats, ...formats } }, 'open link');
        return true;
      } catch (thrown) {
        notifyError(facts, toPlainError(thrown));
        return false;
      }
    },
  };
}
