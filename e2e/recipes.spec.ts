/**
 * Every recipe on the page: chosen by keyboard, each with its own plan, compared on one scale, its memory predicted; and
 * one probe of FP8 op groups from end to end. Only the last test needs a GPU.
 */
import { expect, test, type Locator, type Page } from '@playwright/test';
import axe from 'axe-core';
import {
  budget, cell, cellNames, cells, countCells, exported, figure, openNano, openPage, pairsOf, plan, recipe, runButton, RUN_TIMEOUT, scan, status, takeSmallData, verify, waitForGpu, watchErrors,
} from './workbench-page';

const group = (page: Page): Locator => page.getByRole('radiogroup', { name: 'Recipe' });
const small = (page: Page, name: string): Locator => page.getByRole('figure').filter({ has: page.getByRole('button', { name: `Show ${name} in the grid`, exact: true }) });

test('recipes by keyboard: each has its own cells, marks and switches, and one step back', async ({ page }) => {
  const errors = watchErrors(page);
  await openPage(page, '/');
  await page.getByRole('button', { name: /^down forward, .*select the row/ }).click();
  await page.keyboard.press('b');
  const passes = await cellNames(page);
  expect(await countCells(page, 'precision BF16')).toBe(6);

  await recipe(page, 'NVFP4').focus();
  await page.keyboard.press('ArrowDown');
  await expect(recipe(page, 'NVFP4, TE defaults')).toBeChecked();
  await expect(page.getByRole('checkbox', { name: 'Stochastic rounding' })).toBeChecked();
  await expect(page.getByRole('checkbox', { name: 'Stochastic rounding' })).toHaveAccessibleDescription(/rounded up or down at random/);
  await expect(page).toHaveURL(/#recipe=nvfp4-te$/);
  // The marks stay, the angles of other switches do not.
  expect(await countCells(page, 'precision BF16')).toBe(6);
  expect(await countCells(page, 'not measured')).toBe(72);

  await page.keyboard.press('ArrowDown');
  await expect(recipe(page, 'MXFP4')).toBeChecked();
  await expect(recipe(page, 'MXFP4')).toHaveAccessibleDescription(/blocks of 32/);
  expect(await countCells(page, 'precision MXFP4')).toBe(66);
  expect(await countCells(page, 'precision BF16')).toBe(6);
  for (let k = await group(page).getByRole('radio').count() - 3; k > 0; k--) await page.keyboard.press('ArrowDown');
  await expect(recipe(page, 'FP8 op groups')).toBeChecked();
  await expect(recipe(page, 'FP8 op groups')).toBeFocused();
  await expect(cells(page)).toHaveCount(63);
  await expect(page.getByRole('button', { name: 'Paint 8' })).toBeVisible();
  expect(await pairsOf(plan(page))).toMatchObject({ 'HP activation cache': '0.0 %', 'Sites BF16 / FP8': '0 / 63' });

  await test.step('the grid of op groups by keys', async () => {
    const wide = page.getByRole('gridcell', { name: /^token and position embedding output, / });
    await wide.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await expect(page.getByRole('gridcell', { name: /^Layer 1, norm before attention output, / })).toBeFocused();
    await page.keyboard.press('PageDown');
    await expect(page.getByRole('gridcell', { name: /^Layer 1, norm before the MLP output, / })).toBeFocused();
    await page.keyboard.press('Control+End');
    await expect(page.getByRole('gridcell', { name: /^language-model head output, / })).toBeFocused();
    await page.keyboard.press('b');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('b');
    await page.keyboard.press('4');
    await expect(page.getByRole('gridcell', { name: /^final norm output, .*precision BF16/ })).toBeFocused();
    const totals = await pairsOf(plan(page));
    expect(totals['Sites BF16 / FP8']).toBe('2 / 61');
    expect(figure(totals['HP activation cache'])).toBeGreaterThan(0);
    expect(totals['A token']).toMatch(/^[\d.]+ KiB, 0\.\d\d × fixed$/);
  });

  await test.step('there and back', async () => {
    await recipe(page, 'NVFP4').check();
    // The preset's switches are not its own.
    await expect(page.getByRole('checkbox', { name: 'Hadamard' })).not.toBeChecked();
    await expect(page).toHaveURL(/\/$/);
    expect(await cellNames(page)).toEqual(passes);
    await recipe(page, 'FP8 op groups').check();
    expect(await countCells(page, 'precision BF16')).toBe(2);
    await page.getByRole('button', { name: 'Undo: choose FP8 op groups' }).click();
    expect(await cellNames(page)).toEqual(passes);
    await page.getByRole('button', { name: 'Redo: choose FP8 op groups' }).click();
    await page.waitForTimeout(300);
    await page.reload();
    await expect(cells(page)).toHaveCount(63);
    expect(await countCells(page, 'precision BF16')).toBe(2);
    await expect(page).toHaveURL(/#recipe=fp8-out$/);
  });
  expect(errors).toEqual([]);
});

test('small multiples: one scale and cursor, a press puts one into the grid, what is not measured says so', async ({ page }) => {
  const errors = watchErrors(page);
  await page.setViewportSize({ width: 1024, height: 768 });
  await openPage(page, '/');
  // Where the height is small the chooser is folded to the chosen recipe, and the dock to its tabs.
  await expect(group(page)).toBeHidden();
  await page.getByRole('button', { name: 'choose another' }).press('Enter');
  const fold = page.getByRole('button', { name: 'fold', exact: true });
  await expect(fold).toBeFocused();
  await expect(recipe(page, 'NVFP4')).toBeInViewport({ ratio: 1 });
  const count = await group(page).getByRole('radio').count();
  await fold.press('Enter');
  await page.getByRole('tab', { name: 'Compare recipes' }).click();
  await expect(page.getByRole('figure').filter({ has: page.getByRole('button', { name: /in the grid$/ }) })).toHaveCount(count);
  await expect(small(page, 'NVFP4').getByRole('img')).toHaveAccessibleName(/^72 of 72 cells measured, /);
  await expect(small(page, 'NVFP4')).toContainText(/all low [\d.]+ deg$/);
  await expect(small(page, 'MXFP8')).toContainText('not measured');
  // All of them are in sight.
  for (const box of await page.getByRole('group', { name: 'Small grids' }).getByRole('img').all()) await expect(box).toBeInViewport({ ratio: 1 });

  await cell(page, 0, 'MLP down projection', 'forward pass').hover();
  await expect(small(page, 'NVFP4')).toContainText(/this cell [\d.]+ deg/);
  await small(page, 'FP8 op groups').getByRole('img').click();
  await expect(cells(page)).toHaveCount(63);
  await expect(page.getByRole('region', { name: 'Recipe', exact: true }).getByText('FP8 op groups')).toBeInViewport({ ratio: 1 });
  await small(page, 'NVFP4').getByRole('button').focus();
  await page.keyboard.press('Enter');
  await expect(cells(page)).toHaveCount(72);
  await page.getByRole('button', { name: 'Show as table' }).click();
  await expect(page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'MXFP4' }) })).toContainText('0 of 72');
  expect(errors).toEqual([]);
});

test('memory by kind is predicted before anything runs, and low outputs keep less', async ({ page }) => {
  await openPage(page, '/');
  await recipe(page, 'FP8 op groups').check();
  await page.getByRole('button', { name: 'by kind' }).click();
  const training = page.getByRole('table', { name: /^Training “Plan”/ });
  const bytes = async (table: Locator, kind: string): Promise<string[]> => table.getByRole('row', { name: kind }).getByRole('cell').allTextContents();
  const [wide, packed] = await bytes(training, 'Activations, BF16');
  expect(figure(wide)).toBeGreaterThan(0);
  expect(packed).toBe('0 B');
  expect((await bytes(training, 'Activations, E4M3'))[1]).toMatch(/[KM]iB$/);
  expect(figure((await bytes(training, 'Total'))[2])).toBeLessThan(0);
  expect(await bytes(page.getByRole('table', { name: /^A probe of FP8 op groups/ }), 'Total')).toEqual([expect.stringMatching(/MiB$/), 'not yet', '']);
});

test('axe-core finds nothing in the chooser, the grid of op groups, comparison and memory', async ({ page }) => {
  await openPage(page, '/');
  await page.addScriptTag({ content: axe.source });
  await recipe(page, 'FP8 op groups').check();
  await page.getByRole('button', { name: 'explain all' }).click();
  await page.getByText(/^Also measure/).click();
  await page.getByText('What is simulated, what is not').click();
  for (const [colorScheme, width, height, tabs] of [['light', 1440, 900, ['Compare recipes', 'Memory']], ['dark', 1024, 768, ['Compare recipes', 'Baselines']]] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height });
    for (const tab of tabs) {
      await page.getByRole('tab', { name: tab }).click();
      await test.step(`${colorScheme} ${width}, ${tab}`, () => scan(page, `${colorScheme} ${width}, ${tab}`));
    }
  }
});

test('a probe of FP8 op groups on gpt2-nano, from files to a verified plan', async ({ page }) => {
  const errors = watchErrors(page);
  await openPage(page);
  await openNano(page);
  await takeSmallData(page);
  await recipe(page, 'FP8 op groups').check();
  await expect(cells(page)).toHaveCount(23);
  await waitForGpu(page);

  await runButton(page).click();
  await expect(status(page)).toContainText(/Probe 23\/23 finished/, { timeout: RUN_TIMEOUT });
  expect(await countCells(page, 'not measured')).toBe(0);
  expect(await countCells(page, 'bending')).toBe(23);

  await test.step('the memory that was predicted is held', async () => {
    await page.getByRole('tab', { name: 'Memory' }).click();
    const total = page.getByRole('table', { name: /^A probe of FP8 op groups/ }).getByRole('row', { name: 'Total' });
    const [predicted, held, difference] = await total.getByRole('cell').allTextContents();
    expect(figure(predicted)).toBeGreaterThan(0);
    expect(held).toMatch(/[KM]iB$/);
    expect(Math.abs(figure(difference))).toBeLessThanOrEqual(5);
  });

  await test.step('a cell says what it keeps, and its place in the plan', async () => {
    await page.getByRole('gridcell', { name: /^Layer 1, MLP activation output, / }).click();
    const inspector = page.getByRole('complementary', { name: 'Inspector' });
    await expect(inspector).toContainText(/y and its arriving gradient, \[16 × 256\]; 8\.00 KiB kept in BF16/);
    await expect(inspector).toContainText('Bending if FP8, clean');
    await expect(inspector).toContainText('of the activation cache');
  });

  await test.step('a budget in bytes kept, verified as a whole', async () => {
    await budget(page, 'the activation cache').focus();
    for (const key of ['PageUp', 'PageUp', 'Enter']) await page.keyboard.press(key);
    const totals = await pairsOf(plan(page));
    expect(figure(totals['HP activation cache'])).toBeGreaterThan(0);
    await verify(page).click();
    await expect.poll(async () => figure((await pairsOf(plan(page)))['Measured']), { timeout: RUN_TIMEOUT }).toBeGreaterThan(0);
    const { Predicted: predicted, Measured: measured } = await pairsOf(plan(page));
    const ratio = figure(measured) / figure(predicted);
    expect(ratio).toBeGreaterThan(0.5);
    expect(ratio).toBeLessThan(2);
  });

  await test.step('both recipes stand side by side; the file says which it is', async () => {
    await page.getByRole('tab', { name: 'Compare recipes' }).click();
    await expect(small(page, 'FP8 op groups').getByRole('img')).toHaveAccessibleName(/^23 of 23 cells measured, /);
    await expect(small(page, 'NVFP4')).toContainText('not measured');
    expect(await exported(page, 'Probe as JSON')).toMatchObject({ recipe: 'fp8-out', options: {} });
  });
  expect(errors).toEqual([]);
});
