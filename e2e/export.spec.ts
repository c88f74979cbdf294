/**
 * The Export drawer: every target's badge for the plan in hand, what it rounds, names checked against a pasted list before
 * anything is saved, files as they arrive on disk. All without a GPU: the address lacks `software=1`.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, type Page } from '@playwright/test';
import axe from 'axe-core';
import { parse } from 'yaml';
import { cell, exportDrawer, exportRow, openExport, openPage, recipe, savedFile, scan, watchErrors } from './workbench-page';

/** Rows as they stand, each with its badge for a plan of NVFP4 in which one forward pass is BF16. */
const ROWS = [
  ['allocation.json', 'exact'], ['TransformerEngine debug YAML', 'exact'], ['TransformerEngine recipe factory', 'exact'], ['Megatron precision YAML', '2 sites rounded up'],
  ['torchao FqnToConfig', '2 sites rounded up'], ['torchao Float8 training', 'cannot express'], ['Model Optimizer quant_cfg', '48 sites rounded up'],
  ['Model Explorer node data', 'exact'], ['Sites as CSV', 'exact'], ['Probe as JSON', 'exact'],
] as const;

/** Layer names of the golden lists that belong to the example's six blocks. */
function namesOf(spelling: string): string[] {
  return readFileSync(join(import.meta.dirname, 'golden', 'exports', 'names', `${spelling}-12.txt`), 'utf8').trim().split('\n').filter((name) => !/\.(6|7|8|9|10|11)(\.|$)/.test(name));
}

async function paintOne(page: Page): Promise<void> {
  await cell(page, 1, 'MLP up projection', 'forward pass').click();
  await page.keyboard.press('b');
}

async function paste(page: Page, names: readonly string[]): Promise<void> {
  const list = exportDrawer(page).getByRole('textbox', { name: /Paste your model’s layer names/ });
  if (!(await list.isVisible())) await exportDrawer(page).getByText('Check names', { exact: true }).click();
  await list.fill(names.join('\n'));
}

test('every target says how well it holds the plan, and what it changes', async ({ page }) => {
  const errors = watchErrors(page);
  await openPage(page, '/');
  await paintOne(page);
  const drawer = await openExport(page);
  const badges = await drawer.getByRole('listitem').filter({ has: page.getByRole('heading') }).evaluateAll((rows) => rows.map((row) => [row.querySelector('h3')?.textContent, row.querySelector('.badge')?.textContent]));
  expect(badges.slice(0, ROWS.length)).toEqual(ROWS);

  await test.step('rounded cells are listed by name', async () => {
    const megatron = exportRow(page, 'Megatron precision YAML');
    await expect(megatron.getByText('Megatron holds one format a layer, so a layer runs in the highest of its three passes.')).toBeVisible();
    await megatron.getByText('2 cells rounded up').click();
    await expect(megatron.getByRole('list', { name: 'Cells rounded up' }).getByRole('listitem')).toHaveText(['Layer 1, MLP up projection, input gradient: NVFP4', 'Layer 1, MLP up projection, weight gradient: NVFP4']);
  });
  await test.step('what cannot be said cannot be saved, and says why', async () => {
    const float8 = exportRow(page, 'torchao Float8 training');
    await expect(float8.getByText('torchao Float8 training has no nvfp4.')).toBeVisible();
    await expect(float8.getByRole('button', { name: 'Save' })).toBeDisabled();
  });
  await test.step('the first lines are those of the file', async () => {
    const debug = exportRow(page, 'TransformerEngine debug YAML');
    await debug.getByText('First lines').click();
    const shown = await debug.getByRole('region', { name: /^First lines/ }).textContent();
    const { fileName, text } = await savedFile(page, 'TransformerEngine debug YAML');
    expect(text.startsWith(shown ?? '-')).toBe(true);
    expect(shown).toMatch(/^# bendscope plan .* sha256:[0-9a-f]{64} fit: exact, must match 24 layers\n/);
    expect(fileName).toMatch(/\.te-debug\.yaml$/);
    await expect(drawer.getByRole('status')).toHaveText(`Saved ${fileName}.`);
  });
  await test.step('the badge follows the recipe', async () => {
    await page.keyboard.press('Escape');
    await recipe(page, 'FP8 per tensor').check();
    await openExport(page);
    await expect(exportRow(page, 'torchao Float8 training').locator('.badge')).toHaveText('exact');
  });
  expect(errors).toEqual([]);
});

test('files arrive whole: YAML is read back, Python compiles, CSV has a row a site', async ({ page }, info) => {
  await openPage(page, '/');
  await paintOne(page);
  await openExport(page);
  const sections = parse((await savedFile(page, 'TransformerEngine debug YAML')).text) as Record<string, { readonly layers: { readonly layer_name_regex_pattern: string } }>;
  const taken = namesOf('te').map((name) => Object.values(sections).filter(({ layers }) => new RegExp(layers.layer_name_regex_pattern).test(name)).length);
  expect(taken.filter((times) => times === 1)).toHaveLength(24);
  expect(Math.max(...taken)).toBe(1);
  expect(Object.keys(parse((await savedFile(page, 'Megatron precision YAML')).text) as object)).toEqual(['configs', 'matchers']);

  const lines = (await savedFile(page, 'Sites as CSV')).text.split('\r\n');
  expect(lines).toHaveLength(1 + 72 + 1);
  const row = Object.fromEntries((lines.find((line) => line.startsWith('h.1.mlp.c_fc:fprop,')) ?? '').split(',').map((value, i) => [lines[0]?.split(',')[i], value]));
  expect(row).toMatchObject({ format: 'bf16', status: 'measured', measured_here: 'false', angle_format: 'nvfp4' });
  expect(Number(row['angle_deg'])).toBeGreaterThan(0);
  expect(Number(row['rank'])).toBeGreaterThanOrEqual(1);

  const hasPython = spawnSync('python3', ['-c', 'pass']).status === 0;
  info.annotations.push({ type: 'python', description: hasPython ? 'compiled by python3' : 'not compiled: python3 is not installed' });
  for (const name of ['TransformerEngine recipe factory', 'torchao FqnToConfig', 'Model Optimizer quant_cfg']) {
    const { fileName, text } = await savedFile(page, name);
    expect(fileName).toMatch(/^[a-z]\w*\.py$/);
    if (hasPython) expect(spawnSync('python3', ['-W', 'error', '-c', 'import sys; compile(sys.stdin.read(), "exported", "exec")'], { input: text, encoding: 'utf8' }).stderr).toBe('');
  }
});

test('figures are saved from the same drawer', async ({ page }) => {
  await openPage(page, '/');
  const drawer = await openExport(page);
  const svg = drawer.getByRole('region', { name: 'Figures' }).getByRole('button', { name: 'SVG' });
  const download = page.waitForEvent('download');
  await svg.first().click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/\.svg$/);
  expect(readFileSync(await file.path(), 'utf8')).toMatch(/<svg [\s\S]*<\/svg>\s*$/);
  await expect(drawer.getByRole('status')).toHaveText(new RegExp(`^Saved ${file.suggestedFilename()}`));
});

test('names are checked against a pasted list before anything is saved', async ({ page }) => {
  await openPage(page, '/');
  const drawer = await openExport(page);
  const debug = exportRow(page, 'TransformerEngine debug YAML');
  await test.step('the right list', async () => {
    await paste(page, namesOf('te'));
    await expect(debug.getByText(/^Names: matched 24 of 24, \d+ other names$/)).toBeVisible();
    await expect(exportRow(page, 'allocation.json').getByText(/^Names/)).toHaveCount(0);
  });
  await test.step('another spelling: unmatched names are listed, saving says so', async () => {
    await paste(page, namesOf('te-unfused'));
    await debug.getByText(/^Names differ: matched 18 of 24, 6 of the plan are not in the list, \d+ other names$/).click();
    await expect(debug.getByRole('list', { name: 'Of the plan, not in your list' }).getByRole('listitem')).toHaveCount(6);
    await expect(debug.getByRole('button', { name: 'Save anyway' })).toBeVisible();
    await savedFile(page, 'TransformerEngine debug YAML');
    await expect(drawer.getByRole('status')).toHaveText(/though its names differ from your list \(E-EXP-02\): matched 18 of 24/);
  });
  await test.step('the list names its spelling, which one press takes', async () => {
    await drawer.getByRole('button', { name: 'Use these names' }).click();
    await expect(debug.getByText(/^Names: matched 24 of 24/)).toBeVisible();
    await expect(drawer.getByRole('combobox', { name: 'Spelling' })).toHaveValue('te-unfused');
  });
  await test.step('below another root', async () => {
    await drawer.getByRole('combobox', { name: 'Spelling' }).selectOption('Each library’s own');
    await paste(page, namesOf('hf-gpt2').map((name) => `module.${name}`));
    const factory = exportRow(page, 'Model Optimizer quant_cfg');
    await expect(factory.getByText(/^Names differ: matched 0 of 24/)).toBeVisible();
    await drawer.getByRole('textbox', { name: 'Name of a block' }).fill('module.transformer.h.{layer}');
    await expect(factory.getByText(/^Names: matched 24 of 24/)).toBeVisible();
    await drawer.getByRole('textbox', { name: 'Name of a block' }).fill('module.transformer.h');
    await expect(drawer.getByText(/^Write \{layer\} where/)).toBeVisible();
    await expect(factory.getByText(/expected one layer called/).first()).toBeVisible();
    await expect(factory.getByRole('button', { name: 'Save' })).toBeDisabled();
  });
  await test.step('a name that stands twice is named', async () => {
    await drawer.getByRole('textbox', { name: 'Name of a block' }).fill('');
    await paste(page, [...namesOf('megatron'), 'decoder.layers.1.mlp.linear_fc2']);
    const megatron = exportRow(page, 'Megatron precision YAML');
    await megatron.getByText(/^Names differ: matched 23 of 24, 1 matched twice/).click();
    await expect(megatron.getByRole('list', { name: 'Matched twice' }).getByRole('listitem')).toHaveText('decoder.layers.1.mlp.linear_fc2');
  });
});

test('keyboard: opens with Enter, copies, closes with Esc, the focus comes back', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openPage(page, '/');
  const button = page.getByRole('button', { name: 'Export', exact: true });
  await button.focus();
  await page.keyboard.press('Enter');
  await expect(exportDrawer(page)).toBeVisible();
  await expect(exportDrawer(page).getByRole('button', { name: 'Close' })).toBeFocused();
  // Spelling, name of a block, Check names, then the first file.
  for (let stop = 0; stop < 4; stop++) await page.keyboard.press('Tab');
  await expect(exportRow(page, 'allocation.json').getByRole('button', { name: 'Save' })).toBeFocused();
  await exportRow(page, 'Megatron precision YAML').getByRole('button', { name: 'Copy' }).press('Enter');
  await expect(exportRow(page, 'Megatron precision YAML').getByRole('button', { name: 'Copied' })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^# bendscope plan [\s\S]*\nmatchers:\n/);
  await page.keyboard.press('Escape');
  await expect(exportDrawer(page)).toBeHidden();
  await expect(button).toBeFocused();
});

for (const colorScheme of ['light', 'dark'] as const) {
  for (const [width, height] of [[1440, 900], [1024, 768]] as const) {
    test(`axe-core finds nothing, ${colorScheme} ${width} x ${height}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height });
      await openPage(page, '/');
      await paintOne(page);
      await page.addScriptTag({ content: axe.source });
      const drawer = await openExport(page);
      await scan(page, 'export drawer');
      const box = await drawer.boundingBox();
      expect(box).toMatchObject({ x: width - 480, y: 0, width: 480, height });
      await paste(page, namesOf('te-unfused'));
      await exportRow(page, 'TransformerEngine debug YAML').getByText(/^Names differ/).click();
      for (const name of ['TransformerEngine debug YAML', 'Sites as CSV']) await exportRow(page, name).getByText('First lines').click();
      await exportRow(page, 'Model Optimizer quant_cfg').getByText('48 cells rounded up').click();
      await drawer.getByRole('textbox', { name: 'Name of a block' }).fill('h');
      await scan(page, 'export drawer, everything open, names refused');
      await drawer.getByRole('textbox', { name: 'Name of a block' }).fill('');
      await scan(page, 'export drawer, everything open');
      // Nothing is wider than the drawer but what scrolls by itself.
      expect(await drawer.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
    });
  }
}
