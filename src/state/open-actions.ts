/**
 * Opening: the stored example, a model, a text, recipe switches. Each changes what every result on the page refers to,
 * so none happens under a running measurement, and one that was overtaken while it waited changes nothing.
 */
import { presetPlan, PRESETS } from '../allocate/plan';
import type { DataSpec, ModelSource } from '../bridge/protocol';
import type { PolicyOptions } from '../graph/policy';
import type { ProbeRecord } from '../graph/probe-record';
import { gpt2Graph, type Gpt2Config } from '../models/gpt2';
import type { ActionContext } from './context';
import { openDocument } from './document';
import { notify, openFacts, switchResults } from './facts';
import { restoreDocument } from './kept-documents';
import { sitesOf } from './selectors';
import type { WorkerModel } from './worker-model';

export interface StoredExample {
  readonly config: Gpt2Config;
  readonly record: ProbeRecord;
}

export function createOpenActions(context: ActionContext, model: WorkerModel) {
  const { document, facts, view, storage, worker, attempt, refusedByRun } = context;
  let textsAsked = 0;

  /** The open model's document: the one kept from the last visit, else all low. */
  const beginDocument = (): void => {
    const { graph, recipe, modelSha256 } = facts.getState();
    view.setState({ primary: null, selection: new Set(), hovered: null, preview: null });
    if (!graph || (storage && restoreDocument(document, graph, modelSha256, storage))) return;
    const [allLow] = PRESETS;
    if (allLow) openDocument(document, { ...presetPlan(allLow, sitesOf(graph), recipe), name: 'Plan' }, modelSha256);
  };

  return {
    /** Draws the stored example at once; nothing is fetched here and no worker is needed. */
    openStored(example: StoredExample): void {
      if (refusedByRun('the stored example was not opened')) return;
      const { provenance } = example.record;
      openFacts(facts, gpt2Graph(example.config), example.config.model, provenance.modelSha256, example.record);
      model.showStored();
      facts.setState((s) => ({ data: { ...s.data, batches: provenance.batches, sequences: provenance.sequences, tokens: provenance.tokens, seed: provenance.seed } }));
      beginDocument();
    },

    /** Opens dropped or built-in files. On failure the open model stays as it is. */
    async openModel(source: ModelSource): Promise<boolean> {
      if (refusedByRun(`${source.name} was not opened`)) return false;
      const done = await attempt(async () => {
        await model.open(source, ({ graph, modelName, modelSha256 }) => {
          openFacts(facts, graph, modelName, modelSha256, null);
          facts.setState((s) => ({ openedData: null, data: { ...s.data, tokens: Math.min(s.data.tokens, graph.maxTokens) } }));
          beginDocument();
        });
        return true;
      });
      return done === true;
    },

    /** Opens a text. False, with a notice, if it cannot be opened or a run or another model came first. */
    async setData(spec: DataSpec): Promise<boolean> {
      const refusal = 'the text stays as it is';
      if (refusedByRun(refusal)) return false;
      const asked = ++textsAsked;
      const { modelSha256 } = facts.getState();
      const openedData = await attempt(async () => {
        const api = await worker();
        await model.ensure(api);
        return api.openData(spec);
      });
      // The newest wish counts, even if an older text took longer to open.
      if (!openedData || asked !== textsAsked || refusedByRun(refusal)) return false;
      if (facts.getState().modelSha256 !== modelSha256) {
        notify(facts, { kind: 'warning', name: '', message: 'Another model was opened meanwhile, so the text stays as it is.', hint: 'Choose the text again.' });
        return false;
      }
      switchResults(facts, { data: spec });
      facts.setState({ openedData });
      return true;
    },

    /** Recipe switches. Results under the old ones are put aside, not mixed with the new. */
    setOptions(options: PolicyOptions): void {
      if (!refusedByRun('the recipe stays as it is')) switchResults(facts, { options });
    },

    /** Asks the worker what a run would hold on the device, before it starts. */
    async planBytes(): Promise<void> {
      const { data, modelSha256 } = facts.getState();
      const plannedBytes = await attempt(async () => {
        const api = await worker();
        await model.ensure(api);
        return api.plannedBytes(data);
      });
      const now = facts.getState();
      if (plannedBytes !== null && now.data === data && now.modelSha256 === modelSha256) facts.setState({ plannedBytes });
    },
  };
}
