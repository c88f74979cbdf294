/**
 * Plans beside each other: saved, recalled and taken back; A and the cells that differ from it; every baseline with its
 * score or the reason why there is none; small multiples; how much is needed, measured on gpt2-nano.
 */
import { expect, test, type Locator, type Page } from '@playwright/test';
import axe from 'axe-core';
import {
  cell, cellNames, cells, countCells, figure, openNano, openPage, pairsOf, plan, runButton, RUN_TIMEOUT, scan, status, verify, waitForGpu, watchErrors,
} from './workbench-page';

const rail = (page: Page): Locator => page.getByRole('region', { name: 'Plans', exact: true });
const savedPlan = (page: Page, name: string): Locator => rail(page).getByRole('listitem').filter({ has: page.getByRole('button', { name: `Recall ${name}`, exact: true }) });
const dockTab = (page: Page, name: string): Locator => page.getByRole('tablist', { name: 'Evidence' }).getByRole('tab', { name, exact: true });
const inspectorTab = (page: Page, name: string): Locator => page.getByRole('tablist', { name: 'Inspector' }).getByRole('tab', { name, exact: true });
const diff = (page: Page): Locator => page.getByRole('complementary', { name: 'Inspector' });
const baseline = (page: Page, name: string): Locator => page.getByRole('table', { name: /^Plans of other methods/ }).getByRole('row').filter({ has: page.getByRole('rowheader', { name: new RegExp(`^${name}`) }) });

async function spend(page: Page, percent: string): Promise<void> {
  await page.getByRole('textbox', { name: /^Spend at most, percent of GEMM work/ }).fill(percent);
  await page.keyboard.press('Enter');
}

/** The stored example with its all-low plan put aside, then 12 % of the work bought back: a plan that nobody has measured. */
async function twoPlans(page: Page): Promise<void> {
  await openPage(page, '/');
  await rail(page).getByRole('button', { name: '+ Save current' }).click();
  await spend(page, '12');
  expect(await countCells(page, 'precision BF16')).toBeGreaterThan(2);
}

test('plans are put aside, recalled, deleted and taken back, and are there after a reload', async ({ page }) => {
  const errors = watchErrors(page);
  await twoPlans(page);
  const edited = await cellNames(page);
  await rail(page).getByRole('button', { name: '+ Save current' }).click();
  await expect(savedPlan(page, 'Plan')).toContainText('0.0 %, measured');
  await expect(savedPlan(page, 'Plan 2')).toContainText(/\d\.\d %, predicted [\d.]+ deg/);

  await test.step('recalled as one step', async () => {
    await savedPlan(page, 'Plan').getByRole('button', { name: 'Recall Plan', exact: true }).click();
    expect(await countCells(page, 'precision BF16')).toBe(0);
    await page.getByRole('button', { name: 'Undo: recall Plan' }).click();
    expect(await cellNames(page)).toEqual(edited);
  });

  await test.step('deleted, and back from the notice', async () => {
    await savedPlan(page, 'Plan 2').getByRole('button', { name: 'Delete Plan 2' }).click();
    await expect(savedPlan(page, 'Plan 2')).toHaveCount(0);
    await page.getByRole('status').filter({ hasText: 'Plan 2 deleted' }).getByRole('button', { name: 'Undo' }).click();
    await expect(savedPlan(page, 'Plan 2')).toBeVisible();
  });

  await test.step('under its key, after a reload', async () => {
    await expect(savedPlan(page, 'Plan 2').getByText('2', { exact: true })).toBeVisible();
    await page.waitForTimeout(300);
    await page.reload();
    await expect(cells(page)).toHaveCount(72);
    await expect(rail(page).getByRole('listitem')).toHaveCount(2);
    await savedPlan(page, 'Plan').getByRole('button', { name: 'Recall Plan', exact: true }).press('Enter');
    expect(await countCells(page, 'precision BF16')).toBe(0);
    await savedPlan(page, 'Plan 2').getByRole('button', { name: 'Recall Plan 2' }).press('Enter');
    expect(await cellNames(page)).toEqual(edited);
  });
  expect(errors).toEqual([]);
});

test('against A: every cell that differs by its effect, reverted one by one or together, each one step', async ({ page }) => {
  const errors = watchErrors(page);
  await twoPlans(page);
  const edited = await cellNames(page);
  const count = await countCells(page, 'precision BF16');
  await inspectorTab(page, 'Diff').click();
  await expect(diff(page)).toContainText('No plan is pinned as A');
  const pin = savedPlan(page, 'Plan').getByRole('button', { name: 'Pin Plan as A' });
  await pin.click();
  await expect(pin).toHaveAttribute('aria-pressed', 'true');
  await expect(rail(page)).toContainText(`${count} cells differ`);

  await expect(diff(page)).toContainText(`${count} of 72 cells differ.`);
  const { 'HP GEMM work': work, Predicted: predicted, Measured: measured } = await pairsOf(diff(page));
  expect(figure(work)).toBeCloseTo(figure((await pairsOf(plan(page)))['HP GEMM work']), 5);
  expect(figure(predicted)).toBeLessThan(0);
  expect(measured).toBe('the current plan is not verified');

  const rows = diff(page).getByRole('table', { name: /^Cells that differ/ }).locator('tbody').getByRole('row');
  await expect(rows).toHaveCount(count);
  const effects = (await rows.evaluateAll((all) => all.map((row) => row.children[2]?.textContent ?? ''))).map((text) => figure(text));
  expect(effects.every((effect) => effect < 0)).toBe(true);
  expect(effects).toEqual(effects.toSorted((a, b) => a - b));

  await test.step('one back, and undone', async () => {
    await rows.first().getByRole('button', { name: /^Revert / }).click();
    expect(await countCells(page, 'precision BF16')).toBe(count - 1);
    await page.getByRole('button', { name: 'Undo: revert 1 cell to Plan' }).click();
    expect(await cellNames(page)).toEqual(edited);
  });
  await test.step('only a pass, all of them back, and undone', async () => {
    await diff(page).getByRole('combobox', { name: 'Pass' }).selectOption('forward');
    const forward = await rows.count();
    expect(forward).toBeGreaterThan(0);
    await diff(page).getByRole('combobox', { name: 'Pass' }).selectOption('all');
    await diff(page).getByRole('button', { name: 'Revert all' }).click();
    expect(await countCells(page, 'precision BF16')).toBe(0);
    await expect(diff(page)).toContainText('The plans are the same.');
    await page.getByRole('button', { name: `Undo: revert ${count} cells to Plan` }).click();
    expect(await cellNames(page)).toEqual(edited);
  });
  await test.step('of another kind of recipe: no counterpart, said so', async () => {
    await page.getByRole('radio', { name: 'FP8 op groups' }).check();
    await expect(diff(page)).toContainText('63 cells of the current plan and 72 of A have no counterpart');
    await page.getByRole('button', { name: 'Let go of A' }).click();
    await expect(diff(page)).toContainText('No plan is pinned as A');
  });
  expect(errors).toEqual([]);
});

test('every baseline has a plan and its figures, or says why not; applied and pinned from its row', async ({ page }) => {
  const errors = watchErrors(page);
  await twoPlans(page);
  await dockTab(page, 'Baselines').click();
  const rows = page.getByRole('table', { name: /^Plans of other methods/ }).locator('tbody').getByRole('row');
  await expect(rows.first()).toContainText('current');
  // Ours, then all of method.md 7 that a recipe of passes has.
  expect(await rows.count()).toBeGreaterThan(6);
  for (const row of await rows.all()) {
    const words = await row.innerText();
    const cells = await row.getByRole('cell').allInnerTexts();
    expect(cells.every((text) => text.trim() !== ''), words).toBe(true);
    if (cells.length > 1) expect(words).toMatch(/\d %.*\d/s);
    else expect(words, 'a reason').toMatch(/measured|probe|score|layers|budget|format/);
  }
  const before = await cellNames(page);
  await baseline(page, 'Forward passes BF16').getByRole('button', { name: 'Apply Forward passes BF16' }).click();
  expect(await countCells(page, 'precision BF16')).toBe(24);
  await page.getByRole('button', { name: 'Undo: apply Forward passes BF16' }).click();
  expect(await cellNames(page)).toEqual(before);
  await baseline(page, 'All low').getByRole('button', { name: 'Pin All low as A' }).press('Enter');
  await expect(rail(page)).toContainText('All low');

  for (const [width, height] of [[1440, 900], [1024, 768]] as const) {
    await page.setViewportSize({ width, height });
    const table = page.getByRole('region', { name: 'Table of baselines' });
    await expect(table).toBeVisible();
    expect(await table.evaluate((box) => box.scrollWidth - box.clientWidth), `${width} px`).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight), 'the page does not scroll').toBe(0);
  }
  expect(errors).toEqual([]);
});

test('small multiples: two plans on one scale and cursor, one taken in hand, the same in figures', async ({ page }) => {
  const errors = watchErrors(page);
  await twoPlans(page);
  const count = await countCells(page, 'precision BF16');
  await dockTab(page, 'Plans').click();
  const figures = page.getByRole('group', { name: 'Small grids of plans' }).getByRole('figure');
  await expect(figures).toHaveCount(2);
  await page.getByRole('checkbox', { name: 'All BF16' }).check();
  await page.getByRole('checkbox', { name: 'Forward passes BF16' }).check();
  await expect(figures).toHaveCount(4);
  await expect(page.getByRole('checkbox', { name: 'All low' })).toBeDisabled();
  await expect(figures.first().getByRole('img')).toHaveAccessibleName(new RegExp(`^${count} of 72 cells BF16; ${72 - count} of ${72 - count} low cells measured, `));
  for (const box of await figures.getByRole('img').all()) await expect(box).toBeInViewport({ ratio: 1 });

  await cell(page, 0, 'MLP down projection', 'forward pass').hover();
  await expect(figures.nth(1)).toContainText(/NVFP4, bends [\d.]+ deg/);
  await expect(figures.nth(2)).toContainText('BF16, does not bend');
  await page.getByRole('button', { name: 'Take Plan in hand' }).click();
  expect(await countCells(page, 'precision BF16')).toBe(0);
  await page.getByRole('button', { name: 'Undo: recall Plan' }).click();
  expect(await countCells(page, 'precision BF16')).toBe(count);
  await page.getByRole('button', { name: 'Show as table' }).click();
  await expect(page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'All BF16' }) })).toContainText('reference');
  expect(errors).toEqual([]);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe-core finds nothing in the rail, the baselines, plans, the search and the difference, ${colorScheme}`, async ({ page }) => {
    await twoPlans(page);
    await page.addScriptTag({ content: axe.source });
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await rail(page).getByRole('button', { name: '+ Save current' }).click();
    await savedPlan(page, 'Plan').getByRole('button', { name: 'Pin Plan as A' }).click();
    await page.getByRole('combobox', { name: 'Also allow' }).selectOption({ index: 2 });
    await cell(page, 0, 'MLP down projection', 'forward pass').click();
    for (const [dock, inspector] of [['Baselines', 'Diff'], ['Plans', 'Plan'], ['How much', 'Cell']] as const) {
      await test.step(`${dock}, ${inspector}`, async () => {
        await dockTab(page, dock).click();
        await inspectorTab(page, inspector).click();
        await scan(page, `${colorScheme}, ${dock}, ${inspector}`);
      });
    }
  });
}

test('how much is needed on gpt2-nano: met in at most four measurements, applied as one step', async ({ page }) => {
  // Two probes and some fifteen joint measurements.
  test.slow();
  const errors = watchErrors(page);
  await openPage(page);
  await waitForGpu(page);
  await openNano(page);
  await page.getByRole('banner').getByRole('button', { name: /tokens/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Calibration data' });
  for (const [field, value] of [['Batches', '2'], ['Sequences a batch', '1'], ['Tokens a sequence', '16']] as const) await dialog.getByRole('spinbutton', { name: field }).fill(value);
  await dialog.getByRole('button', { name: 'Use this text' }).click();
  await expect(dialog).toBeHidden({ timeout: RUN_TIMEOUT });
  await runButton(page).click();
  await expect(status(page)).toContainText(/Probe 24\/24 finished/, { timeout: RUN_TIMEOUT });
  const before = await cellNames(page);

  const target = plan(page).getByRole('textbox', { name: 'Target of how much, degrees' });
  const targetDeg = 0.5 * figure((await pairsOf(plan(page)))['Predicted']);
  await target.fill(targetDeg.toPrecision(2));
  await plan(page).getByRole('button', { name: 'How much is needed' }).click();
  const search = page.getByRole('region', { name: 'How much is needed', exact: true });
  await expect(search.getByRole('button', { name: 'Apply' })).toBeVisible({ timeout: RUN_TIMEOUT });

  await test.step('each step, the answer and its uncertainty', async () => {
    const steps = search.getByRole('table', { name: /^Joint measurements/ }).locator('tbody').getByRole('row');
    const count = await steps.count();
    expect(count).toBeLessThanOrEqual(4);
    await expect(steps.last()).toContainText(/±/);
    await expect(search.getByRole('status')).toContainText(new RegExp(`needs [\\d.]+ % of GEMM work in BF16 \\([\\d.]+ to [\\d.]+ % within one standard error\\): measured [\\d.]+ ± [\\d.]+ deg, ${count} joint measurement`));
    const measured = figure(/measured ([\d.]+)/.exec(await search.getByRole('status').innerText())?.[1]);
    expect(measured).toBeLessThanOrEqual(Number(targetDeg.toPrecision(2)));
    await expect(search.getByRole('table', { name: /^The plan that k of 2 batches/ }).locator('tbody').getByRole('row')).toHaveCount(2);
  });
  await test.step('a preview until it is applied, then one step', async () => {
    expect(await cellNames(page)).toEqual(before);
    await search.getByRole('button', { name: 'Apply' }).click();
    expect(await countCells(page, 'precision BF16')).toBeGreaterThan(0);
    await expect.poll(async () => figure((await pairsOf(plan(page)))['Measured'])).toBeGreaterThan(0);
    await page.getByRole('button', { name: /^Undo: what [\d.]+ deg need/ }).click();
    expect(await cellNames(page)).toEqual(before);
    await page.getByRole('button', { name: /^Redo: what/ }).click();
  });

  await test.step('every baseline measured in a row, the lowest marked', async () => {
    await dockTab(page, 'Baselines').click();
    await page.getByRole('button', { name: /^Verify all/ }).click();
    await expect(page.getByRole('button', { name: 'All verified' })).toBeVisible({ timeout: RUN_TIMEOUT });
    await expect(page.getByRole('table', { name: /^Plans of other methods/ }).getByText('lowest', { exact: true }).first()).toBeVisible();
    await expect(verify(page)).toBeEnabled();
  });

  await test.step('a second format is measured beside the plan, which then counts three', async () => {
    const second = page.getByRole('combobox', { name: 'Also allow' });
    await second.selectOption('fp8');
    await expect(second).toHaveAccessibleDescription(/FP8 on this text: not measured/);
    await page.getByRole('button', { name: 'measure it' }).click();
    await expect(second).toHaveAccessibleDescription(/FP8 on this text: measured\./, { timeout: RUN_TIMEOUT });
    expect((await pairsOf(plan(page)))['Sites BF16 / FP8 / NVFP4']).toMatch(/^\d+ \/ 0 \/ \d+$/);
    await cell(page, 1, 'MLP down projection', 'forward pass').click();
    await inspectorTab(page, 'Cell').click();
    await page.getByRole('radio', { name: 'FP8', exact: true }).check();
    expect((await pairsOf(plan(page)))['Sites BF16 / FP8 / NVFP4']).toMatch(/^\d+ \/ 1 \/ \d+$/);
    expect(figure((await pairsOf(plan(page)))['Predicted'])).toBeGreaterThan(0);
  });
  expect(errors).toEqual([]);
});
