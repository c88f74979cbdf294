/**
 * Which model the worker holds, whatever comes in which order: drops, built-in files that are late or fail, a worker
 * that dies. The page's model and the measured one must be the same, or nothing is measured.
 */
import { describe, expect, it } from 'vitest';
import { BendscopeError } from '../base/errors';
import { createPage, createRunningPage, FILES, GRAPH, MODEL, OTHER, RECORD, settled } from './page-fixture';

describe('the model in the worker', () => {
  it('is the dropped one even if the built-in one was still on its way, or failed later', async () => {
    const waiting: { name: string; give(): void; fail(): void }[] = [];
    const { actions, facts, heard, run } = createPage({
      openModel: (source) => new Promise((resolve, reject) => waiting.push({
        name: source.name,
        give: () => resolve(source.kind === 'files' ? OTHER : { graph: GRAPH, modelName: 'tiny', modelSha256: MODEL }),
        fail: () => reject(new BendscopeError('E-NET-04', 'no file', '')),
      })),
    });
    await actions.checkDevice();
    const text = actions.setData(facts.getState().data);
    await settled();
    const dropped = actions.openModel(FILES);
    await settled();
    // One after the other: the worker holds whatever it opened last.
    expect(waiting.map((one) => one.name)).toEqual(['tiny']);
    waiting[0]!.fail();
    await settled();
    waiting[1]!.give();
    expect(await dropped).toBe(true);
    expect(await text).toBe(false);
    expect(facts.getState()).toMatchObject({ modelSha256: OTHER.modelSha256, openedData: null, notices: [{ name: 'E-NET-04' }] });
    void actions.runProbe();
    await settled();
    expect(waiting).toHaveLength(2);
    expect(heard).toEqual([`run ${OTHER.modelSha256}`]);
    expect(run().request.modelSha256).toBe(OTHER.modelSha256);
  });

  it('is opened anew for a run on the built-in one, but not for each', async () => {
    const { actions, heard, run, ended } = await createRunningPage();
    run().end();
    await ended;
    void actions.verifyJointly();
    await settled();
    expect(heard).toEqual(['open tiny', `run ${MODEL}`, `run ${MODEL}`]);
    actions.workerStopped(new BendscopeError('E-WRK-01', 'stopped', ''));
    await actions.checkDevice();
    void actions.runProbe();
    await settled();
    expect(heard.slice(3)).toEqual(['open tiny', `run ${MODEL}`]);
  });

  it('must be the one that the page shows', async () => {
    const { actions, shown, heard } = createPage({ openModel: () => Promise.resolve({ graph: GRAPH, modelName: 'tiny', modelSha256: 'sha256:rebuilt' }) });
    await actions.checkDevice();
    await actions.runProbe();
    expect(shown()).toMatchObject({ run: null, sites: RECORD.sites, notices: [{ name: 'E-RUN-05', message: expect.stringContaining('sha256:rebuilt') as unknown }] });
    expect(heard).toEqual([]);
  });

  it('cannot come back by itself when it was dropped and the worker died', async () => {
    const { actions, facts, heard } = createPage();
    expect(await actions.openModel(FILES)).toBe(true);
    actions.workerStopped(new BendscopeError('E-WRK-01', 'stopped', 'Run again.'));
    expect(facts.getState()).toMatchObject({ modelName: 'other', run: null, device: { status: 'absent', error: { name: 'E-WRK-01' } } });
    await actions.checkDevice();
    await actions.runProbe();
    expect(facts.getState().notices.at(-1)).toMatchObject({ name: 'E-RUN-04' });
    expect(heard).toEqual(['open other']);
  });

  it('stays when a file is refused', async () => {
    const { actions, figures, document, facts } = createPage({ openModel: () => Promise.reject(new BendscopeError('E-FILE-03', 'wrong shape', '')) });
    const before = figures();
    const { plan } = document.getState();
    expect(await actions.openModel(FILES)).toBe(false);
    expect(figures()).toEqual({ ...before, notices: 1 });
    expect(facts.getState().notices).toMatchObject([{ name: 'E-FILE-03' }]);
    expect(document.getState().plan).toBe(plan);
  });

  it('changed under a text that was being opened: the text is not taken', async () => {
    let give = (): void => undefined;
    const text = { dataName: 'book', tokensSha256: 'sha256:u', tokenCount: 9, firstWindow: '' };
    const { actions, facts } = createPage({ openData: () => new Promise((resolve) => (give = () => resolve(text))) });
    const switched = actions.setData({ ...facts.getState().data, seed: 99 });
    await settled();
    expect(await actions.openModel(FILES)).toBe(true);
    give();
    expect(await switched).toBe(false);
    expect(facts.getState()).toMatchObject({ modelName: 'other', openedData: null, data: { seed: 3 } });
  });
});
