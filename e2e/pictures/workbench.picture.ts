/** workbench-light.png: the stored example with a plan from the budget handle, the cell that bends most selected. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { budget, cells, countCells, drawn, openPage, waitForGpu } from '../workbench-page';

const FILE = join(import.meta.dirname, 'workbench-light.png');
/** README pages are read on telephones too. */
const MOST_BYTES = 400_000;

test('workbench-light.png', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await openPage(page);
  await waitForGpu(page);
  await page.getByRole('tab', { name: 'Local error × bending' }).click();
  // A fifth of the GEMM work, as the solver spends it best.
  await page.getByRole('textbox', { name: 'Spend at most, percent of GEMM work' }).fill('20');
  await page.keyboard.press('Enter');
  expect(await countCells(page, 'precision BF16')).toBeGreaterThan(5);
  await expect(budget(page)).toHaveAccessibleName(/Spend at most/);
  await cells(page).and(page.getByRole('gridcell', { name: /rank 1 of 72/ })).click();
  await page.mouse.move(2, 899);
  await drawn(page);
  await expect(page.getByRole('tooltip')).toBeHidden();
  await page.screenshot({ path: FILE, animations: 'disabled' });
  expect(statSync(FILE).size).toBeLessThan(MOST_BYTES);
});
