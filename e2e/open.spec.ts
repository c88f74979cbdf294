/** Opening: what the heatmap needs before it stands, what reaches the console and the network, and axe-core in every state of the page. */
import { gzipSync } from 'node:zlib';
import { expect, test } from '@playwright/test';
import axe from 'axe-core';
import { cell, cells, chooseModel, chosenFile, deviceChip, nanoFile, openNano, openPage, scan, waitForGpu, watchErrors } from './workbench-page';

/** Bytes of JavaScript, gzipped, that the page may ask for before the first press: the worker's among them. */
const SCRIPT_LIMIT = 300_000;

test('the heatmap stands on at most 300 kB of JavaScript', async ({ page }) => {
  const scripts = new Map<string, Promise<Buffer>>();
  page.on('response', (response) => {
    if (/\.js(\?|$)/.test(new URL(response.url()).pathname)) scripts.set(response.url(), response.body());
  });
  await page.goto('/?software=1');
  await expect(cells(page)).toHaveCount(72);
  await page.waitForLoadState('networkidle');
  const bytes = (await Promise.all(scripts.values())).map((body) => gzipSync(body).length);
  expect(bytes.length).toBeGreaterThan(1);
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(SCRIPT_LIMIT);
});

test('nothing in the console, nothing asked of another host', async ({ page, baseURL }) => {
  const errors = watchErrors(page);
  const warnings: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'warning') warnings.push(message.text());
  });
  const foreign: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(baseURL ?? '') && !/^(data|blob):/.test(request.url())) foreign.push(request.url());
  });
  await openPage(page);
  await waitForGpu(page);
  await cell(page, 3, 'MLP up projection', 'input gradient').click();
  expect(errors).toEqual([]);
  expect(warnings).toEqual([]);
  expect(foreign).toEqual([]);
});

test('axe-core finds nothing, light and dark, wide and narrow, every panel and dialog', async ({ page }) => {
  await openPage(page);
  await waitForGpu(page);
  await page.addScriptTag({ content: axe.source });
  const banner = page.getByRole('banner');
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [width, height] of [[1440, 900], [1024, 768]] as const) {
      const at = (state: string): string => `${colorScheme} ${width} x ${height}, ${state}`;
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height });
      await expect(cells(page).first()).toBeVisible();
      await test.step(at('just opened'), () => scan(page, at('just opened')));

      await test.step(at('cell selected, inspector open'), async () => {
        await cell(page, 5, 'MLP down projection', 'forward pass').click();
        // A drawer where there is little room; beside the grid it is always there.
        const drawer = banner.getByRole('button', { name: 'Inspector' });
        if (await drawer.isVisible()) await drawer.click();
        await expect(page.getByRole('complementary', { name: 'Inspector' }).getByText('Where the gradient turns')).toBeVisible();
        await scan(page, at('cell selected, inspector open'));
        if (await drawer.isVisible()) await page.getByRole('complementary', { name: 'Inspector' }).getByRole('button', { name: 'Close' }).click();
      });

      await test.step(at('device popover'), async () => {
        await deviceChip(page, /GPU checked/).click();
        await expect(page.getByRole('region', { name: 'Checks' })).toBeVisible();
        await scan(page, at('device popover'));
        await page.keyboard.press('Escape');
      });

      for (const [button, dialog] of [[/Moby-Dick/, 'Calibration data'], ['Keys and help', 'Keys and words']] as const) {
        await test.step(at(dialog), async () => {
          await banner.getByRole('button', { name: button }).click();
          await expect(page.getByRole('dialog', { name: dialog })).toBeVisible();
          await scan(page, at(dialog));
          await page.keyboard.press('Escape');
          await expect(page.getByRole('dialog', { name: dialog })).toBeHidden();
        });
      }
    }
    for (const tab of ['Local error × bending', 'Compare recipes', 'Baselines', 'Memory', 'Log', 'Frontier']) {
      await test.step(`${colorScheme}, dock ${tab}`, async () => {
        await page.getByRole('tab', { name: tab }).click();
        await scan(page, `${colorScheme}, dock ${tab}`);
      });
    }
  }
});

test('axe-core finds nothing with menus, notices, warnings and unmeasured cells', async ({ page }) => {
  await openPage(page, '/');
  await expect(deviceChip(page, /Software GPU/)).toBeVisible();
  await page.addScriptTag({ content: axe.source });
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await test.step('cell menu', async () => {
    await cell(page, 1, 'MLP up projection', 'forward pass').click({ button: 'right' });
    await expect(page.getByRole('menu')).toBeVisible();
    await scan(page, 'cell menu');
    await page.keyboard.press('Escape');
  });
  for (const [colorScheme, layer] of [['light', 2], ['dark', 3]] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await test.step(`${colorScheme}, tooltip and plan tab`, async () => {
      await page.getByRole('tab', { name: 'Plan', exact: true }).click();
      await cell(page, layer, 'attention output projection', 'forward pass').hover();
      await expect(page.getByRole('tooltip')).toBeVisible();
      await scan(page, `${colorScheme}, tooltip and plan tab`);
    });
  }
  await chooseModel(page, [chosenFile('config.json', nanoFile('config.json')), chosenFile('model.safetensors', 'nothing of the kind'), chosenFile('tokenizer.json', '{}')]);
  await expect(page.getByRole('alert').filter({ hasText: 'E-FILE-07' })).toBeVisible();
  await openNano(page);
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await test.step(`${colorScheme}, an error notice, no cell measured`, () => scan(page, `${colorScheme}, an error notice, no cell measured`));
  }
});
