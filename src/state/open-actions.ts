/**
 * Opening: the stored examples, a model, a text. Each changes what every result on the page refers to, so none happens
 * under a running measurement, and one that was overtaken while it waited changes nothing.
 */
import type { DataSpec, ModelSource } from '../bridge/protocol';
import type { ProbeRecord } from '../graph/probe-record';
import { recipeOptions } from '../graph/recipes';
import { gpt2Graph, type Gpt2Config } from '../models/gpt2';
import type { ActionContext } from './context';
import { openDocument } from './document';
import { addStored, notify, openFacts, storedData } from './facts';
import { restoreDocument } from './kept-documents';
import { freshPlan } from './selectors';
import type { WorkerModel } from './worker-model';

export interface StoredExample {
  readonly config: Gpt2Config;
  readonly record: ProbeRecord;
}

export function createOpenActions(context: ActionContext, model: WorkerModel) {
  const { document, facts, view, storage, worker, attempt, refusedByRun } = context;
  let textsAsked = 0;

  /** The open model's document: the one kept from the last visit, else the recipe at hand, all low. */
  const beginDocument = (of: Pick<ProbeRecord, 'recipe' | 'options'>): void => {
    const { graph, modelSha256 } = facts.getState();
    view.setState({ primary: null, selection: new Set(), hovered: null, preview: null });
    if (!graph || (storage && restoreDocument(document, graph, modelSha256, storage))) return;
    openDocument(document, { recipe: of.recipe, options: recipeOptions(of.recipe, of.options), plan: freshPlan(graph, of.recipe) }, modelSha256);
  };

  return {
    /** Draws the stored example at once; nothing is fetched here and no worker is needed. */
    openStored({ config, record }: StoredExample): void {
      if (refusedByRun('the stored example was not opened')) return;
      openFacts(facts, gpt2Graph(config), config.model, record.provenance.modelSha256);
      model.showStored();
      facts.setState({ data: storedData(record) });
      addStored(facts, record);
      beginDocument(record);
    },
    /** Another recipe's stored example of the same model; it waits to be looked at. */
    addStored(record: ProbeRecord): void {
      addStored(facts, record);
    },

    /** Opens dropped or built-in files. On failure the open model stays as it is. */
    async openModel(source: ModelSource): Promise<boolean> {
      if (refusedByRun(`${source.name} was not opened`)) return false;
      const done = await attempt(async () => {
        await model.open(source, ({ graph, modelName, modelSha256 }) => {
          openFacts(facts, graph, modelName, modelSha256);
          facts.setState((s) => ({ openedData: null, data: { ...s.data, tokens: Math.min(s.data.tokens, graph.maxTokens) } }));
          beginDocument(document.getState());
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
      facts.setState({ data: spec, openedData });
      return true;
    },
  };
}
