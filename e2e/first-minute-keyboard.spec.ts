/**
 * The same first minute by keyboard alone (ux.md 3.7, 6.11): no pointer event is made, every control is reached with Tab
 * and arrows from where the focus is, so a control that is out of the tab order fails the test.
 */
import { readFileSync } from 'node:fs';
import { expect, test, type Locator, type Page } from '@playwright/test';
import {
  budget, cell, cells, CHECK_TIMEOUT, countCells, deviceChip, exportRow, figure, nanoFiles, openPage, pairsOf, plan, runButton, RUN_TIMEOUT, verify, watchErrors,
} from './workbench-page';

/** More than the page has tab stops: the focus has gone all around. */
const ALL_AROUND = 90;

async function tabTo(page: Page, target: Locator): Promise<void> {
  await expect(target).toHaveCount(1);
  for (let k = 0; k < ALL_AROUND; k++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`tabTo: expected ${String(target)} among ${ALL_AROUND} tab stops, got none`);
}

async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

/** The grid is one tab stop: wherever in it the focus was last. */
async function toGrid(page: Page): Promise<void> {
  const stop = page.getByRole('grid').locator('[tabindex="0"]');
  await tabTo(page, stop);
  // From anywhere in the grid to its first cell.
  await press(page, 'Control+Home');
  await expect(cells(page).first()).toBeFocused();
}

test('the first minute by keyboard alone', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const errors = watchErrors(page);
  // The browser's own file dialog is held back only while somebody listens: from here on, or a key press may come first.
  page.on('filechooser', () => undefined);
  const totals = (): Promise<Record<string, string>> => pairsOf(plan(page));
  const tip = page.getByRole('tooltip');

  await test.step('focus on a cell of the stored example says its figures; arrows move and stop at the edge', async () => {
    await openPage(page);
    await toGrid(page);
    await expect(tip).toContainText('Layer 0, attention query, key, value, forward pass');
    await press(page, 'ArrowRight');
    await expect(cell(page, 1, 'attention query, key, value', 'forward pass')).toBeFocused();
    await press(page, 'End', 'ArrowRight');
    await expect(cell(page, 5, 'attention query, key, value', 'forward pass')).toBeFocused();
    await press(page, 'PageDown');
    await expect(cell(page, 5, 'attention output projection', 'forward pass')).toBeFocused();
    await press(page, 'ArrowDown', 'ArrowDown');
    await expect(cell(page, 5, 'attention output projection', 'weight gradient')).toBeFocused();
    await press(page, 'n');
    const ranked = cells(page).and(page.getByRole('gridcell', { selected: true }));
    await expect(ranked).toBeFocused();
    await expect(tip).toContainText(/turns the whole gradient by [\d.]+ degrees/);
    await press(page, 'Escape');
    await expect(tip).toBeHidden();
  });

  await test.step('a model from disk and a small text', async () => {
    await tabTo(page, page.getByRole('button', { name: 'Choose files' }));
    const dialog = page.waitForEvent('filechooser');
    await press(page, 'Enter');
    await (await dialog).setFiles(nanoFiles());
    await expect(cells(page)).toHaveCount(24);

    await tabTo(page, page.getByRole('banner').getByRole('button', { name: /tokens/ }));
    await press(page, 'Enter');
    const data = page.getByRole('dialog', { name: 'Calibration data' });
    for (const [field, value] of [['Batches', '1'], ['Sequences a batch', '1'], ['Tokens a sequence', '16']] as const) {
      await tabTo(page, data.getByRole('spinbutton', { name: field }));
      await press(page, 'Control+a');
      await page.keyboard.type(value);
    }
    await press(page, 'Enter');
    await expect(data).toBeHidden();
    await expect(page.getByRole('banner').getByRole('button', { name: '1 × 1 × 16 tokens' })).toBeFocused();
  });

  await test.step('Run', async () => {
    await expect(deviceChip(page, /GPU checked/)).toBeVisible({ timeout: CHECK_TIMEOUT });
    await tabTo(page, runButton(page));
    await press(page, 'Enter');
    await expect(runButton(page)).toHaveText('Run again on this GPU', { timeout: RUN_TIMEOUT });
    expect(await countCells(page, 'bending')).toBe(24);
    expect(await countCells(page, 'not measured')).toBe(0);
  });

  await test.step('B, 4 and L act on the selection; Ctrl+Z and Shift+Ctrl+Z', async () => {
    await toGrid(page);
    const before = await totals();
    await press(page, 'Shift+ArrowRight', 'Shift+ArrowDown', 'Shift+ArrowDown', 'b');
    expect(await countCells(page, 'precision BF16')).toBe(6);
    const painted = await totals();
    expect(figure(painted['Predicted'])).toBeLessThan(figure(before['Predicted']));
    await press(page, 'Control+Home', '4');
    expect(await countCells(page, 'precision BF16')).toBe(5);
    await press(page, 'ArrowRight', 'l');
    const locked = cell(page, 1, 'attention query, key, value', 'forward pass');
    await expect(locked).toHaveAccessibleName(/precision BF16, locked/);
    await press(page, '4');
    await expect(locked).toHaveAccessibleName(/precision BF16, locked/);
    await expect(page.getByText('1 locked cell unchanged')).toBeVisible();

    await press(page, 'Control+z', 'Control+z');
    await expect(locked).not.toHaveAccessibleName(/locked/);
    expect(await countCells(page, 'precision BF16')).toBe(6);
    expect(await totals()).toEqual(painted);
    await press(page, 'Control+z');
    expect(await totals()).toEqual(before);
    await press(page, 'Control+Shift+z', 'Control+Shift+z', 'Control+Shift+z');
    await expect(locked).toHaveAccessibleName(/precision BF16, locked/);
    expect(await countCells(page, 'precision BF16')).toBe(5);
  });

  await test.step('a whole row, a whole layer, the cell menu', async () => {
    await press(page, 'Control+End', 'ArrowUp', 'Shift+Space');
    expect(await page.getByRole('gridcell', { selected: true }).count()).toBe(2);
    await press(page, 'Control+Space');
    expect(await page.getByRole('gridcell', { selected: true }).count()).toBe(12);
    await press(page, 'Shift+F10');
    const menu = page.getByRole('menu');
    await expect(menu.getByRole('menuitem').first()).toBeFocused();
    await press(page, 'ArrowDown');
    await expect(menu.getByRole('menuitem', { name: /^Set to NVFP4/ })).toBeFocused();
    await press(page, 'Escape');
    await expect(menu).toBeHidden();
    await expect(cell(page, 1, 'MLP down projection', 'weight gradient')).toBeFocused();
  });

  await test.step('the budget handle: arrows flip cells, Esc reverts, Enter commits', async () => {
    const before = await totals();
    await tabTo(page, budget(page));
    await press(page, 'ArrowRight', 'ArrowRight');
    await expect(page.getByRole('region', { name: 'Budget' })).toContainText(/\d+ cells? flips?/);
    expect(figure((await totals())['HP GEMM work'])).toBeGreaterThan(figure(before['HP GEMM work']));
    await press(page, 'Escape');
    expect(await totals()).toEqual(before);
    await press(page, 'PageUp', 'ArrowRight', 'Enter');
    const after = await totals();
    expect(figure(after['HP GEMM work'])).toBeGreaterThan(figure(before['HP GEMM work']));
    expect(figure(after['Predicted'])).toBeLessThan(figure(before['Predicted']));
    await press(page, 'Control+z');
    expect(await totals()).toEqual(before);
    await press(page, 'Control+Shift+z');
    expect(await totals()).toEqual(after);
    await expect(cell(page, 1, 'attention query, key, value', 'forward pass')).toHaveAccessibleName(/precision BF16, locked/);
  });

  await test.step('a row\'s own handle', async () => {
    const before = await totals();
    const rows = page.getByRole('slider', { name: /^Bending of (qkv|proj|fc|down)/ });
    await tabTo(page, rows.and(page.locator('[tabindex="0"]')));
    await press(page, ...Array.from({ length: 12 }, () => 'ArrowDown'));
    await expect(page.getByRole('slider', { name: 'Bending of down weight gradient' })).toBeFocused();
    await press(page, 'Home');
    expect(figure((await totals())['HP GEMM work'])).toBeGreaterThan(figure(before['HP GEMM work']));
    await press(page, 'Escape');
    expect(await totals()).toEqual(before);
  });

  await test.step('V verifies jointly: predicted, measured and gap together', async () => {
    await toGrid(page);
    expect((await totals())['Measured']).toBe('not yet');
    await press(page, 'v');
    await expect(verify(page)).toBeEnabled({ timeout: RUN_TIMEOUT });
    await expect.poll(async () => figure((await totals())['Measured']), { timeout: RUN_TIMEOUT }).toBeGreaterThan(0);
    const { Predicted: predicted, Measured: measured, Gap: gap } = await totals();
    expect(figure(measured) / figure(predicted)).toBeGreaterThan(0.5);
    expect(figure(measured) / figure(predicted)).toBeLessThan(2);
    expect(figure(gap)).not.toBeNaN();
  });

  await test.step('export and share', async () => {
    await tabTo(page, page.getByRole('button', { name: 'Export', exact: true }));
    await press(page, 'Enter');
    await tabTo(page, exportRow(page, 'allocation.json').getByRole('button', { name: 'Save' }));
    const download = page.waitForEvent('download');
    await press(page, 'Enter');
    const file = JSON.parse(readFileSync(await (await download).path(), 'utf8')) as { readonly sites: Readonly<Record<string, { readonly format: string }>> };
    expect(Object.values(file.sites).filter((site) => site.format === 'bf16')).toHaveLength(await countCells(page, 'precision BF16'));
    await press(page, 'Escape');
    await expect(page.getByRole('button', { name: 'Export', exact: true })).toBeFocused();

    await tabTo(page, page.getByRole('button', { name: 'Share' }));
    await press(page, 'Enter');
    await expect(page.getByText(/^Link copied/)).toBeVisible();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/#v=1&m=gpt2-2x64&.*&p=[\w-]{10}$/);
  });

  await test.step('? opens the keys, Esc closes them and gives the focus back', async () => {
    await press(page, '?');
    await expect(page.getByRole('dialog', { name: 'Keys and words' })).toBeVisible();
    await press(page, 'Escape');
    await expect(page.getByRole('dialog', { name: 'Keys and words' })).toBeHidden();
    await expect(page.getByRole('button', { name: 'Share' })).toBeFocused();
  });
  expect(errors).toEqual([]);
});
