/**
 * What the allocator offers and pays by: a second format painted by its digit, keys for plans, kinds of cost with edited
 * ratios or imported times. All on the stored example, without a GPU: the address lacks `software=1`.
 */
import { expect, test, type Locator, type Page } from '@playwright/test';
import { budget, cell, chosenFile, openPage, plan } from './workbench-page';

const undo = (page: Page): Locator => page.getByRole('banner').getByRole('button', { name: /^Undo/ });
const costs = (page: Page): Locator => page.getByRole('combobox', { name: 'What plans pay by' });

test('a second format is painted by its digit; what is not measured is not predicted', async ({ page }) => {
  await openPage(page, '/');
  const down = cell(page, 2, 'MLP down projection', 'forward pass');
  await down.click();
  await page.keyboard.press('8');
  await expect(page.getByText(/No format of this plan has the letter 8/)).toBeVisible();
  await page.getByRole('combobox', { name: 'Also allow' }).selectOption('mxfp8');
  await expect(page.getByRole('button', { name: 'Paint 8' })).toBeVisible();
  await down.click();
  await page.keyboard.press('8');
  await expect(down).toHaveAccessibleName(/precision MXFP8, not predicted: not measured in MXFP8/);
  await expect(plan(page)).toContainText(/Not predicted: 1 low cell has no angle/);
  // Cheaper, then dearer twice: through all three formats.
  await page.keyboard.press('[');
  await expect(down).toHaveAccessibleName(/precision NVFP4/);
  await page.keyboard.press(']');
  await page.keyboard.press(']');
  await expect(down).toHaveAccessibleName(/precision BF16/);
  await expect(plan(page)).not.toContainText('Not predicted');
});

test('keys for plans: P pins, M and a digit stores, G and the digit recalls', async ({ page }) => {
  await openPage(page, '/');
  const one = cell(page, 1, 'MLP up projection', 'forward pass');
  await one.click();
  await page.keyboard.press('b');
  await page.keyboard.press('m');
  await page.keyboard.press('3');
  await expect(undo(page)).toHaveAccessibleName(/^Undo: save Plan under 3/);
  await page.keyboard.press('p');
  await expect(page.getByRole('button', { name: 'Diff vs A' })).toHaveAttribute('aria-disabled', 'false');
  await page.keyboard.press('4');
  await expect(one).toHaveAccessibleName(/precision NVFP4/);
  await page.getByRole('button', { name: 'Diff vs A' }).click();
  await expect(one).toHaveAccessibleName(/precision NVFP4, BF16 in A/);
  await one.focus();
  await page.keyboard.press('g');
  await page.keyboard.press('3');
  await expect(one).toHaveAccessibleName(/precision BF16/);
  await expect(page.getByText(/^0 of 72 differ;/)).toBeVisible();
  await one.focus();
  await page.keyboard.press('g');
  await page.keyboard.press('9');
  await expect(page.getByText(/Nothing is stored under 9/)).toBeVisible();
});

test('plans pay by work, bits or time, with edited ratios or imported times', async ({ page }) => {
  await openPage(page, '/');
  await budget(page).focus();
  for (let k = 0; k < 6; k++) await page.keyboard.press('PageUp');
  await page.keyboard.press('Enter');
  const region = page.getByRole('region', { name: 'Budget' });
  await expect(region).toContainText(/effective bits [\d.]+/);
  await costs(page).selectOption('Effective bits');
  await expect(page.getByRole('slider', { name: 'Spend at most: effective bits' })).toBeVisible();
  await expect(region).toContainText(/HP work [\d.]+ %/);
  await costs(page).selectOption('GEMM time');
  const time = page.getByRole('slider', { name: 'Spend at most: GEMM time relative to BF16' });
  const usual = Number(await time.getAttribute('aria-valuenow'));
  await page.getByRole('button', { name: /^Where GEMM times come from/ }).click();
  const ratio = page.getByRole('textbox', { name: 'NVFP4' });
  await ratio.fill('0.5');
  await page.keyboard.press('Enter');
  expect(Number(await time.getAttribute('aria-valuenow'))).toBeGreaterThan(usual);
  await ratio.fill('40');
  await page.keyboard.press('Enter');
  await expect(page.getByText(/expected the time ratio of nvfp4/)).toBeVisible();
  await expect(ratio).toHaveValue('0.5');

  const rows = ([[512, 128, 384], [512, 128, 128], [512, 128, 512], [512, 512, 128]] as const).flatMap(([m, k, n]) =>
    [[m, k, n, 'fprop'], [m, n, k, 'dgrad'], [k, m, n, 'wgrad']].flatMap((row) => [[...row, 'bf16', 20].join(','), [...row, 'nvfp4', 8].join(',')]));
  const file = page.locator('input[type=file][accept*=csv]');
  await file.setInputFiles(chosenFile('short.csv', ['m,k,n,pass,format,time_us', ...rows.slice(1)].join('\n')));
  await expect(page.getByText(/short\.csv: expected a row m=512, k=128, n=384, fprop, bf16/)).toBeVisible();
  await expect(ratio).toBeVisible();
  await file.setInputFiles(chosenFile('times.csv', ['m,k,n,pass,format,time_us', ...rows].join('\n')));
  await expect(page.getByRole('button', { name: 'Where GEMM times come from: times.csv' })).toBeVisible();
  // All in NVFP4 would take 8 of 20 microseconds everywhere.
  expect(Number(await time.getAttribute('aria-valuemin'))).toBe(40);
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Where GEMM times come from: Ratios, edited' })).toBeVisible();
});
