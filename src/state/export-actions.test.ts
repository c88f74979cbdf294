/**
 * A plan taken home: what stands beside it in a file is what the page knows of exactly this plan, each cell in the format it
 * runs in; badges, name checks and refusals are the target's.
 */
import { describe, expect, it } from 'vitest';
import { allocation } from '../allocate/exports/allocation';
import { csv } from '../allocate/exports/csv';
import { EXPORT_TARGETS } from '../allocate/exports/targets';
import { teDebug } from '../allocate/exports/te-debug';
import { allMeasured, ALL_SITES, createPage, FULL, jointWorker } from './page-fixture';

interface AllocationText {
  readonly sites: Readonly<Record<string, { readonly format: string; readonly status: string; readonly angleDeg: Readonly<Record<string, number>>; readonly standardErrorDeg: number | null }>>;
  readonly totals: { readonly predictedDeg: number | null; readonly measuredDeg: number | null };
  readonly measuredOn: { readonly device: string } | null;
}

const MX = allMeasured('mxfp8', 0.12);
const NV = allMeasured('nvfp4');
const [FIRST, HIGH] = ALL_SITES as [string, string];

function pageOfTwoFormats(device = 'elsewhere') {
  const page = createPage({ record: FULL, verifyJointly: jointWorker(() => 4.5) });
  page.actions.addStored({ ...FULL, recipe: 'mxfp8', sites: MX, provenance: { ...FULL.provenance, device } });
  page.actions.setFormats([FIRST], 'mxfp8');
  page.actions.setFormats([HIGH], 'bf16');
  return page;
}
const textOf = (page: ReturnType<typeof createPage>): AllocationText => JSON.parse(page.actions.exportPlan(allocation)!.text) as AllocationText;

describe('allocation.json of two low formats', () => {
  it('holds each cell in its own format beside what it would bend in the other', () => {
    const page = pageOfTwoFormats();
    const { sites, totals, measuredOn } = textOf(page);
    expect(sites[FIRST]).toMatchObject({ format: 'mxfp8', angleDeg: { mxfp8: MX[FIRST]!.angleDeg, nvfp4: NV[FIRST]!.angleDeg }, standardErrorDeg: MX[FIRST]!.angleSeDeg });
    expect(sites[HIGH]).toMatchObject({ format: 'bf16', angleDeg: { mxfp8: MX[HIGH]!.angleDeg, nvfp4: NV[HIGH]!.angleDeg }, standardErrorDeg: NV[HIGH]!.angleSeDeg });
    const tan2 = (deg: number): number => Math.tan((deg * Math.PI) / 180) ** 2;
    const sum = ALL_SITES.reduce((total, id) => total + (id === HIGH ? 0 : tan2((id === FIRST ? MX : NV)[id]!.cleanAngleDeg)), tan2(0.1));
    expect(tan2(totals.predictedDeg!)).toBeCloseTo(sum, 12);
    expect([totals.measuredDeg, measuredOn?.device]).toEqual([null, 'elsewhere']);
  });

  it('comes back as it was, and says which cells another device measured', async () => {
    const page = pageOfTwoFormats('a third device');
    expect(textOf(page).measuredOn?.device).toBe('mixed: NVFP4 cells on elsewhere; MXFP8 cells on a third device');
    const text = page.actions.exportPlan(allocation)!.text;
    const next = createPage({ record: FULL });
    expect(next.actions.importAllocation(text, 'plan.json')).toBe(true);
    expect(next.document.getState()).toMatchObject({ recipe: 'nvfp4', second: 'mxfp8', plan: page.document.getState().plan });
    await page.actions.checkDevice();
    await page.actions.verifyJointly();
    expect(textOf(page).totals.measuredDeg).toBe(4.5);
    page.actions.setFormats([HIGH], 'nvfp4');
    expect(textOf(page).totals.measuredDeg).toBeNull();
  });

  it('says what a file measured, and does not take it for a measurement of this page', async () => {
    const page = pageOfTwoFormats();
    await page.actions.checkDevice();
    await page.actions.verifyJointly();
    const { text } = page.actions.exportPlan(allocation)!;
    const open = (file: string) => {
      const next = createPage({ record: FULL });
      expect(next.actions.importAllocation(file, 'plan.json')).toBe(true);
      expect(textOf(next).totals.measuredDeg).toBeNull();
      return next.facts.getState().notices.map(({ message }) => message);
    };
    expect(open(text)).toEqual([expect.stringMatching(/^plan\.json says: 4\.5\d* deg measured on /)]);
    const edited = JSON.parse(text) as { plan: { hash?: string } };
    delete edited.plan.hash;
    expect(open(JSON.stringify(edited))).toEqual([]);
  });

  it('claims nothing of a format that was not measured', () => {
    const page = createPage({ record: FULL });
    page.actions.setFormats([FIRST], 'mxfp8');
    const { sites, totals } = textOf(page);
    expect(sites[FIRST]).toMatchObject({ format: 'mxfp8', status: 'unmeasured', angleDeg: { nvfp4: NV[FIRST]!.angleDeg }, standardErrorDeg: null });
    expect(totals.predictedDeg).toBeNull();
  });
});

it('every target has a file or a reason for the plan in hand, and names it', () => {
  const page = pageOfTwoFormats();
  for (const target of EXPORT_TARGETS) {
    const fit = page.actions.fitOf(target)!;
    const before = page.facts.getState().notices.length;
    const file = page.actions.exportPlan(target);
    if (fit.badge === 'cannot') {
      expect([file, page.facts.getState().notices.length]).toEqual([null, before + 1]);
      expect(page.facts.getState().notices.at(-1)).toMatchObject({ name: 'E-EXP-03' });
      expect(fit.reasons.length).toBeGreaterThan(0);
    } else {
      expect(file!.text.length, target.id).toBeGreaterThan(10);
      expect(page.actions.exportPlan(target)).toEqual(file);
      // Exact where nothing is rounded, and the other way round.
      expect(fit.badge === 'exact', target.id).toBe(fit.rounded.length === 0);
    }
  }
});

it('without a plan there is nothing to take home', () => {
  const { actions, document } = createPage();
  document.setState({ plan: null });
  expect([actions.exportPlan(allocation), actions.fitOf(teDebug), actions.checkNames(teDebug, undefined, '')]).toEqual([null, null, null]);
});

it('names are checked against a pasted list before anything is saved', () => {
  const page = createPage({ record: FULL });
  const groups = ['attn.c_attn', 'attn.c_proj', 'mlp.c_fc', 'mlp.c_proj'];
  const list = [0, 1].flatMap((layer) => groups.map((group) => `transformer.h.${layer}.${group}`));
  const names = { preset: 'hf-gpt2' } as const;
  expect(page.actions.checkNames(teDebug, names, list.join('\n'))).toMatchObject({ isGood: true, matched: list });
  expect(page.actions.checkNames(teDebug, names, list.slice(1).join('\n'))).toMatchObject({ isGood: false, missing: [list[0]] });
  expect(page.actions.checkNames(teDebug, { preset: 'megatron' }, list.join('\n'))).toMatchObject({ isGood: false, matched: [] });
  expect(page.actions.checkNames(csv, names, list.join('\n'))).toBeNull();
  expect(page.actions.exportPlan(teDebug, names)!.text).toContain('transformer');
  expect(page.actions.fitOf(teDebug, { rules: [] })).toMatchObject({ badge: 'cannot' });
  expect(page.actions.exportPlan(teDebug, { rules: [] })).toBeNull();
  expect(page.facts.getState().notices.at(-1)).toMatchObject({ kind: 'error', name: 'E-EXP-03' });
});
