/** What a probe over a store measures and what it takes from it, with a probe that only counts. */
import { describe, expect, it } from 'vitest';
import type { Policy, SiteId } from '../graph/policy';
import type { Measured, NoiseFloor, SiteResult } from '../graph/probe-record';
import type { Isolated } from '../probe/low-sites';
import { memoryBackend, runStoreOver, type RunStore } from './run-store';
import { StoredProbe } from './stored-probe';

const FLOOR: NoiseFloor = { forwardDeg: 0.15, backwardDeg: 0.03, perRun: [] };
const FAILED: SiteResult = { status: 'failed', errorName: 'E-RUN-02', reason: 'zero' };
const PERSISTENT = { overBatches: { reason: 'few' }, overDraws: { reason: 'off' } };
const [A, B, C] = ['h.0.mlp.c_fc:fprop', 'h.0.mlp.c_fc:dgrad', 'h.1.mlp.c_fc:wgrad'] as const;

function measured(angleDeg: number, localError: number | null): Measured {
  const batch = { angleDeg, relativeShift: 0.1, lengthRatio: 1, rotationShare: 1, lossChange: 0, localError };
  return { ...batch, status: 'measured', cleanAngleDeg: angleDeg, angleSeDeg: null, belowNoise: false, blockAngleDeg: {}, layerAngleDeg: {}, perBatch: [batch, batch], elapsedMs: 1 };
}

const SCORES = (site: SiteId) => ({ firstOrder: null, snip: site.length });

/** A probe that notes what it is asked to measure; B fails. */
function counting(store: RunStore) {
  const asked: string[] = [];
  const probe = new StoredProbe({
    referenceLosses: () => Promise.resolve((asked.push('reference'), [5, 6])),
    measureFloor: (_sink, stored) => Promise.resolve(stored ?? (asked.push('floor'), FLOOR)),
    async measureScores(sites, _recipe, _options, sink) {
      if (sites.length > 0) asked.push(`scores of ${sites.join()}`);
      for (const site of sites) await sink.onScores?.(site, SCORES(site));
    },
    async measureSites(sites, _recipe, _options, { persistent }, sink) {
      for (const site of sites) {
        asked.push(site);
        await sink.onScores?.(site, SCORES(site));
        await sink.onSite?.(site, site === B ? FAILED : { ...measured(3, 0.5), ...(persistent ? { persistent: PERSISTENT } : {}) });
      }
    },
    async measureLeaveOneOut(sites, isolated: Isolated, sink) {
      for (const site of sites) {
        asked.push(`all but ${site}, knowing ${Object.keys(isolated.sites).length}`);
        await sink.onSite?.(site, measured(9, null));
      }
    },
    policyWithout: (site) => ({ reference: 'bf16', passes: Object.fromEntries([A, C].filter((id) => id !== site).map((id) => [id, 'nvfp4'])), options: {} }),
    measureJoint: (policy) => Promise.resolve((asked.push(`joint of ${Object.keys(policy.passes).length}`), measured(10, null))),
  }, store, 'key', 'nvfp4', {});
  const told: string[] = [];
  const sink = { onSite: (site: SiteId, _result: SiteResult, done: number, total: number, stored: boolean): void => void told.push(`${site} ${done}/${total}${stored ? ' stored' : ''}`) };
  return { probe, asked, told, sink };
}

describe('a probe over a store', () => {
  it('measures what is missing or failed, tells stored results first and counts all', async () => {
    const store = runStoreOver(memoryBackend());
    const first = counting(store);
    expect(await first.probe.reference()).toEqual({ floor: FLOOR, referenceLoss: [5, 6] });
    await first.probe.measureSites([A, B], { persistent: false }, first.sink);
    const second = counting(store);
    expect(await second.probe.reference()).toEqual({ floor: FLOOR, referenceLoss: [5, 6] });
    await second.probe.measureSites([C, B, A], { persistent: false }, second.sink);
    expect(second.asked).toEqual([C, B]);
    expect(second.told).toEqual([`${A} 1/3 stored`, `${C} 2/3`, `${B} 3/3`]);
  });

  it('stores and tells the scores of each site before its result; a site measured without them is scored, not run again', async () => {
    const store = runStoreOver(memoryBackend());
    await store.putSite('key', A, measured(3, 0.5));
    const heard = async (sites: readonly SiteId[]): Promise<{ asked: string[]; told: unknown[] }> => {
      const { probe, asked } = counting(store);
      const told: unknown[] = [];
      await probe.measureSites(sites, { persistent: false }, { onScores: (scores) => void told.push(scores), onSite: (site) => void told.push(site) });
      return { asked, told };
    };
    expect(await heard([A, C])).toEqual({ asked: [`scores of ${A}`, C], told: [{ [A]: SCORES(A) }, A, { [C]: SCORES(C) }, C] });
    expect(await heard([B, C, A])).toEqual({ asked: [B], told: [{ [C]: SCORES(C), [A]: SCORES(A) }, C, A, { [B]: SCORES(B) }, B] });
    expect((await counting(store).probe.found()).scores).toEqual(Object.fromEntries([A, B, C].map((site) => [site, SCORES(site)])));
  });

  it('measures again for what persists, and never again for less', async () => {
    const store = runStoreOver(memoryBackend());
    const { probe, asked } = counting(store);
    for (const persistent of [false, true, true, false]) await probe.measureSites([A], { persistent });
    expect(asked).toEqual([A, A]);
    expect((await probe.found()).sites[A]).toMatchObject({ persistent: PERSISTENT });
  });

  it('keeps leave-one-out apart from isolated results, which it knows', async () => {
    const store = runStoreOver(memoryBackend());
    const { probe, asked, told, sink } = counting(store);
    await probe.measureSites([A, C], { persistent: false });
    await probe.measureLeaveOneOut([A], sink);
    await probe.measureLeaveOneOut([A, C], sink);
    expect(asked).toEqual([A, C, `all but ${A}, knowing 2`, `all but ${C}, knowing 2`]);
    expect(told).toEqual([`${A} 1/1`, `${A} 1/2 stored`, `${C} 2/2`]);
  });

  it('local errors of plans come from the sites asked for, whatever else is stored', async () => {
    const store = runStoreOver(memoryBackend());
    await counting(store).probe.measureSites([A, C], { persistent: false });
    const policy: Policy = { reference: 'bf16', passes: { [A]: 'nvfp4', [C]: 'nvfp4' }, options: {} };
    for (let again = 0; again < 2; again++) {
      const { probe } = counting(store);
      await probe.measureSites([A], { persistent: false });
      expect(await probe.measureLeaveOneOut([A, C])).toMatchObject({ [A]: { localError: null }, [C]: { localError: 0.5 } });
      expect(await probe.measureJoint(policy, 'hash')).toMatchObject({ result: { localError: null, perBatch: [{ localError: null }, { localError: null }] } });
    }
    const { probe } = counting(store);
    await probe.measureSites([A, C], { persistent: false });
    expect(await probe.measureLeaveOneOut([A])).toMatchObject({ [A]: { localError: 0.5 } });
    expect(await probe.measureJoint(policy, 'hash')).toMatchObject({ result: { localError: 1 } });
  });

  it('measures a plan once; adds its local error when its sites were measured later', async () => {
    const store = runStoreOver(memoryBackend());
    const { probe, asked } = counting(store);
    const policy: Policy = { reference: 'bf16', passes: { [A]: 'nvfp4', [C]: 'nvfp4' }, options: {} };
    expect(await probe.measureJoint(policy, 'hash')).toMatchObject({ planHash: 'hash', lowSites: 2, result: { localError: null } });
    await probe.measureSites([A, C], { persistent: false });
    expect(await probe.measureJoint(policy, 'hash')).toMatchObject({ result: { angleDeg: 10, localError: 1, perBatch: [{ localError: 1 }, { localError: 1 }] } });
    expect((await probe.found()).joint['hash']).toMatchObject({ result: { localError: 1 } });
    expect(asked).toEqual(['joint of 2', A, C]);
  });
});
