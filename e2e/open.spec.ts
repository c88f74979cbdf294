/** Opening: how soon the heatmap stands, what reaches the console and the network, and axe-core in every state of the page. */
import { expect, test } from '@playwright/test';
import axe from 'axe-core';
import { cell, cells, chooseModel, chosenFile, deviceChip, nanoFile, openNano, openPage, scan, waitForGpu, watchErrors } from './workbench-page';

const BUDGET_MS = 1500;

/** Milliseconds from the start of navigation to the first frame that holds the grid's cells and their fills. */
function noteFirstHeatmap(): void {
  const noted = window as unknown as { heatmapMs?: number };
  const observer = new MutationObserver(() => {
    const cells = document.querySelectorAll('[role=gridcell]').length;
    const fills = document.querySelectorAll('.heatmap rect[fill^="rgb"], .heatmap rect[fill^="#"]').length;
    if (cells < 72 || fills < 72) return;
    observer.disconnect();
    // A task after the frame's callbacks: by then that frame was given to the compositor.
    requestAnimationFrame(() => setTimeout(() => (noted.heatmapMs = performance.now())));
  });
  observer.observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['fill'] });
}

test('page open to heatmap drawn within 1.5 s', async ({ browser, baseURL }) => {
  const times: number[] = [];
  // Three opens; up to five where the machine was busy with something else.
  for (let run = 0; run < 3 || (run < 5 && Math.min(...times) > BUDGET_MS); run++) {
    // A context of its own has an empty cache.
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    await page.addInitScript(noteFirstHeatmap);
    await page.goto(`${baseURL}/?software=1`);
    const noted = await page.waitForFunction(() => (window as unknown as { heatmapMs?: number }).heatmapMs);
    times.push((await noted.jsonValue()) ?? Infinity);
    await context.close();
  }
  const best = Math.min(...times);
  const figure = `page open to heatmap drawn: best ${best.toFixed(0)} ms of ${times.map((ms) => ms.toFixed(0)).join(', ')} ms`;
  test.info().annotations.push({ type: 'figure', description: figure });
  process.stdout.write(`      ${figure}\n`);
  // The best: what the page needs, not what else the machine does.
  expect(best).toBeLessThanOrEqual(BUDGET_MS);
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
