/**
 * No usable GPU, five causes and five texts (ux.md 6.6), and a GPU that goes in the middle of a run. Each cause is made in
 * the browser, where the page meets it: the worker's script gets a line in front of its own first one.
 */
import { expect, test, type BrowserContext, type Page } from '@playwright/test';
import {
  cell, cells, CHECK_TIMEOUT, countCells, deviceChip, exported, listenToStatus, openNano, openPage, runButton, RUN_TIMEOUT, status, takeSmallData, verify, waitForGpu, watchErrors,
} from './workbench-page';

const WORKER = /\/assets\/main-[\w-]+\.js$/;

/** Runs a line in the measuring worker before its modules. */
async function beforeWorker(context: BrowserContext, line: string): Promise<void> {
  await context.route(WORKER, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: `${line};\n${await response.text()}` });
  });
}

/** Everything but measuring: look, edit, undo, export. */
async function worksWithoutGpu(page: Page): Promise<void> {
  await expect(cells(page)).toHaveCount(72);
  await expect(page.getByText('STORED EXAMPLE', { exact: true })).toBeVisible();
  await expect(runButton(page)).toBeDisabled();
  await expect(verify(page)).toBeDisabled();
  await cell(page, 5, 'MLP down projection', 'forward pass').click();
  await page.getByRole('radio', { name: 'BF16' }).check();
  expect(await countCells(page, 'precision BF16')).toBe(1);
  const file = await exported(page, 'allocation.json');
  expect((file['sites'] as Record<string, { format: string }>)['h.5.mlp.c_proj:fprop']?.format).toBe('bf16');
  await page.getByRole('button', { name: /^Undo: paint 1 cell/ }).click();
  expect(await countCells(page, 'precision BF16')).toBe(0);
}

const ABSENT = [
  { code: 'E-GPU-11', cause: 'no navigator.gpu', line: "Object.defineProperty(navigator, 'gpu', { value: undefined })", text: 'This browser does not offer WebGPU (Chrome 113 or newer does).' },
  { code: 'E-GPU-12', cause: 'no adapter', line: 'GPU.prototype.requestAdapter = () => Promise.resolve(null)', text: 'Chrome found no usable graphics adapter.' },
] as const;

for (const { code, cause, line, text } of ABSENT) {
  test(`${code}, ${cause}: named, and the app still opens, edits, exports`, async ({ page, context }) => {
    const errors = watchErrors(page);
    await beforeWorker(context, line);
    await openPage(page);
    await expect(deviceChip(page, /No GPU/)).toBeVisible();
    await expect(page.getByRole('navigation', { name: 'Setup and plan' })).toContainText(`${code} ${text}`);
    await worksWithoutGpu(page);
    expect(errors).toEqual([]);
  });
}

test('E-GPU-10, no secure page: named, and the app still opens, edits, exports', async ({ page, context, baseURL }) => {
  const host = 'http://bendscope.test';
  await context.route(`${host}/**`, async (route) => route.fulfill({ response: await route.fetch({ url: route.request().url().replace(host, baseURL ?? '') }) }));
  await openPage(page, `${host}/?software=1`);
  await expect(page.getByRole('navigation', { name: 'Setup and plan' })).toContainText('E-GPU-10 WebGPU needs a secure page. This address starts with http.');
  await worksWithoutGpu(page);
  // Without a clipboard the link is shown to copy by hand.
  await page.getByRole('button', { name: 'Share' }).click();
  await expect(page.getByRole('dialog', { name: 'Share this plan' }).getByRole('textbox')).toHaveValue(/#v=1&m=gpt2-mini&.*&p=[\w-]{26}$/);
});

test('E-GPU-13, software adapter: asked first, and works once it is accepted', async ({ page }) => {
  const errors = watchErrors(page);
  await openPage(page, '/');
  await expect(deviceChip(page, /Software GPU/)).toBeVisible();
  const rail = page.getByRole('navigation', { name: 'Setup and plan' });
  await expect(rail).toContainText('E-GPU-13 Chrome is drawing with the processor, not the graphics card. Results would be right but far slower.');
  await worksWithoutGpu(page);

  await rail.getByRole('button', { name: 'Use it anyway' }).click();
  await waitForGpu(page);
  await expect(deviceChip(page, /\(software\)/)).toBeVisible();
  await takeSmallData(page);
  // The built-in model: its weights are fetched only now.
  await cell(page, 5, 'MLP down projection', 'forward pass').click();
  await page.getByRole('button', { name: 'Measure this cell' }).click();
  await expect(cell(page, 5, 'MLP down projection', 'forward pass')).toHaveAccessibleName(/bending [\d.]+ degrees/, { timeout: RUN_TIMEOUT });
  expect(await countCells(page, 'not measured')).toBe(71);
  expect(errors).toEqual([]);
});

for (const [kernel, check] of [['softmax_bprop', 'attention backward'], ['layernorm_fprop', 'layer norm forward']] as const) {
  test(`E-GPU-14, ${kernel} writes zeros: the device is refused, no measurement is offered`, async ({ page }) => {
    await openPage(page, `/?software=1&fault=${kernel}`);
    const chip = deviceChip(page, /GPU refused/);
    await expect(chip).toBeVisible({ timeout: CHECK_TIMEOUT });
    await expect(page.getByRole('navigation', { name: 'Setup and plan' })).toContainText(/E-GPU-14 This graphics driver gave wrong results in \d+ of \d+ checks/);
    await worksWithoutGpu(page);
    await expect(page.getByRole('button', { name: /^Verify .* jointly$/ }).and(page.locator(':enabled'))).toHaveCount(0);
    await chip.click();
    const failed = page.getByRole('region', { name: 'Checks' }).getByRole('row').filter({ hasText: 'FAIL' });
    await expect(failed.first()).toBeVisible();
    await expect(failed.filter({ has: page.getByRole('rowheader', { name: check, exact: true }) })).toHaveCount(1);
    await expect(page.getByRole('button', { name: 'Copy report' })).toBeVisible();
  });
}

/**
 * The real device of the real run, destroyed while cells are being measured. After each new device it waits until
 * measuring goes on, so often as the page's `losses` says.
 */
async function loseDevices(page: Page, context: BrowserContext): Promise<(losses: number) => Promise<void>> {
  await beforeWorker(context, `
    const request = GPUAdapter.prototype.requestDevice;
    const channel = new BroadcastChannel('losing the GPU');
    let device;
    GPUAdapter.prototype.requestDevice = async function (options) {
      device = await request.call(this, options);
      channel.postMessage('new device');
      return device;
    };
    channel.addEventListener('message', () => device.destroy())`);
  await page.addInitScript(() => {
    const state = Object.assign(window, { losses: 0 });
    const channel = new BroadcastChannel('losing the GPU');
    let armed = false;
    channel.addEventListener('message', () => (armed = true));
    new MutationObserver(() => {
      const bar = document.querySelector('footer')?.textContent ?? '';
      if (!armed || state.losses === 0 || !/measuring L/.test(bar) || Number(/(\d+)\/24/.exec(bar)?.[1] ?? 0) < 3) return;
      armed = false;
      state.losses -= 1;
      channel.postMessage('lose it');
    }).observe(document, { subtree: true, childList: true, characterData: true });
  });
  return (losses) => page.evaluate((count) => void Object.assign(window, { losses: count }), losses);
}

test('E-GPU-02, the device is lost again and again in a run: cells are kept; one loss alone is mended without a word', async ({ page, context }) => {
  const lose = await loseDevices(page, context);
  await openPage(page);
  await openNano(page);
  await takeSmallData(page);
  await waitForGpu(page);

  await lose(3);
  await runButton(page).click();
  const notice = page.getByRole('alert').filter({ hasText: 'E-GPU-02' });
  await expect(notice).toBeVisible({ timeout: CHECK_TIMEOUT });
  await expect(notice).toContainText('The GPU stopped answering');
  const left = await countCells(page, 'not measured');
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(21);
  const kept = (await exported(page, 'Probe as JSON'))['sites'] as Record<string, unknown>;
  expect(Object.keys(kept)).toHaveLength(24 - left);
  await notice.getByRole('button', { name: 'Dismiss' }).click();

  await lose(1);
  const said = await listenToStatus(page);
  await expect(runButton(page)).toHaveText(`Continue: ${left} cells left`);
  await runButton(page).click();
  await expect(status(page)).toContainText(/Probe 24\/24 finished/, { timeout: RUN_TIMEOUT });
  const counts = (await said()).map((text) => Number(/(\d+) cells kept from before/.exec(text)?.[1] ?? NaN));
  const resumes = counts.filter((count, i) => count >= 0 && !(counts[i - 1] === count));
  // Once for Continue, once for the new device, which finds at least as many cells.
  expect(resumes).toHaveLength(2);
  expect(resumes[0]).toBe(24 - left);
  expect(resumes[1]).toBeGreaterThanOrEqual(24 - left);
  await expect(notice).toBeHidden();
  const after = (await exported(page, 'Probe as JSON'))['sites'] as Record<string, unknown>;
  for (const [id, site] of Object.entries(kept)) expect(after[id]).toEqual(site);
  expect(await countCells(page, 'bending')).toBe(24);
});
