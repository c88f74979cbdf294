/** The first minute with a mouse (ux.md 6.3): look, measure, paint, spend a budget, verify, export, share. */
import { expect, test } from '@playwright/test';
import {
  budget, cell, cellNames, cells, countCells, deviceChip, drawn, exported, figure, grid, listenToStatus, openNano, openPage, pairsOf, plan, runButton, RUN_TIMEOUT, status, takeSmallData, verify, waitForGpu, watchErrors,
} from './workbench-page';

test('the first minute by mouse', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const errors = watchErrors(page);

  await test.step('the stored example is there, labelled, while the GPU is still being checked', async () => {
    await openPage(page);
    await expect(page.getByText('STORED EXAMPLE', { exact: true })).toBeVisible();
    await expect(cells(page)).toHaveCount(72);
    expect(await countCells(page, 'stored example')).toBe(72);
  });

  await test.step('hovering a cell says its figures', async () => {
    await cell(page, 5, 'MLP down projection', 'forward pass').hover();
    const tip = page.getByRole('tooltip');
    await expect(tip).toContainText('Layer 5, MLP down projection, forward pass');
    await expect(tip).toContainText(/turns the whole gradient by [\d.]+ degrees/);
    await expect(tip).toContainText('Stored example, not measured on this GPU');
    await page.mouse.move(2, 400);
    await expect(tip).toBeHidden();
  });

  await test.step('a model from disk and a small text', async () => {
    await waitForGpu(page);
    await openNano(page);
    await expect(page.getByText('STORED EXAMPLE', { exact: true })).toBeHidden();
    expect(await countCells(page, 'not measured')).toBe(24);
    await takeSmallData(page);
    await expect(page.getByRole('banner').getByRole('button', { name: '1 × 1 × 16 tokens' })).toBeVisible();
  });

  await test.step('Run fills the cells one by one', async () => {
    const said = await listenToStatus(page);
    await runButton(page).click();
    await expect(runButton(page)).toHaveText('Run again on this GPU', { timeout: RUN_TIMEOUT });
    const counts = [...new Set((await said()).flatMap((text) => /(\d+)\/24/.exec(text)?.[1] ?? []).map(Number))];
    expect(counts.length).toBeGreaterThan(12);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect((await said()).some((text) => /measuring L\d \w+ (fp|dg|wg)/.test(text))).toBe(true);
    expect(await countCells(page, 'not measured')).toBe(0);
    expect(await countCells(page, 'bending')).toBe(24);
    await expect(status(page)).toContainText(/Probe 24\/24 finished/);
    await expect(status(page)).toContainText(/noise floor fw [\d.]+ bw [\d.]+ deg/);
  });

  const totals = (): Promise<Record<string, string>> => pairsOf(plan(page));
  await test.step('painting, locking, undo and redo', async () => {
    expect(await countCells(page, 'precision NVFP4')).toBe(24);
    const before = await totals();
    await page.getByRole('button', { name: 'Paint B' }).click();
    await cell(page, 0, 'attention query, key, value', 'forward pass').hover();
    await page.mouse.down();
    await cell(page, 1, 'attention query, key, value', 'forward pass').hover();
    await cell(page, 1, 'attention query, key, value', 'weight gradient').hover();
    await page.mouse.up();
    expect(await countCells(page, 'precision BF16')).toBe(4);
    const painted = await totals();
    expect(painted['Sites BF16 / NVFP4']).toBe('4 / 20');
    expect(figure(painted['HP GEMM work'])).toBeGreaterThan(figure(before['HP GEMM work']));
    expect(figure(painted['Predicted'])).toBeLessThan(figure(before['Predicted']));

    await page.getByRole('button', { name: 'Select', exact: true }).click();
    const locked = cell(page, 1, 'attention query, key, value', 'input gradient');
    await locked.click();
    await page.getByRole('checkbox', { name: 'Lock', exact: true }).check();
    await expect(locked).toHaveAccessibleName(/precision BF16, locked/);

    await page.getByRole('button', { name: 'Undo: lock 1 cell' }).click();
    await expect(locked).not.toHaveAccessibleName(/locked/);
    await page.getByRole('button', { name: 'Undo: paint 4 cells to BF16' }).click();
    expect(await countCells(page, 'precision BF16')).toBe(0);
    expect(await totals()).toEqual(before);
    await page.getByRole('button', { name: /^Redo: paint 4 cells/ }).click();
    await page.getByRole('button', { name: /^Redo: lock/ }).click();
    expect(await countCells(page, 'precision BF16')).toBe(4);
    await expect(locked).toHaveAccessibleName(/locked/);
  });

  await test.step('dragging the budget handle flips cells; Esc reverts, release commits', async () => {
    const before = await totals();
    const handle = await budget(page).boundingBox();
    if (!handle) throw new Error('budget handle: expected a box, got none');
    const [x, y] = [handle.x + handle.width / 2, handle.y + handle.height / 2];
    const drag = async (): Promise<void> => {
      await page.mouse.move(x, y);
      await page.mouse.down();
      for (const by of [10, 25, 40]) await page.mouse.move(x + by, y);
      await drawn(page);
      await drawn(page);
    };
    await drag();
    await expect(page.getByRole('region', { name: 'Budget' })).toContainText(/\d+ cells? flips?/);
    const during = await totals();
    expect(during['HP GEMM work']).not.toBe(before['HP GEMM work']);
    await page.keyboard.press('Escape');
    expect(await totals()).toEqual(before);
    await page.mouse.up();
    expect(await totals()).toEqual(before);

    await drag();
    await page.mouse.up();
    expect(await totals()).toEqual(during);
    expect(figure(during['HP GEMM work'])).toBeGreaterThan(figure(before['HP GEMM work']));
    expect(figure(during['Predicted'])).toBeLessThan(figure(before['Predicted']));
    await expect(page.getByRole('button', { name: /^Undo: spend at most/ })).toBeEnabled();
    await expect(cell(page, 1, 'attention query, key, value', 'input gradient')).toHaveAccessibleName(/precision BF16, locked/);
  });

  await test.step('dragging a row\'s own handle buys precision in that row only', async () => {
    const before = await cellNames(page);
    const handle = await page.getByRole('slider', { name: 'Bending of fc input gradient' }).boundingBox();
    if (!handle) throw new Error('row handle: expected a box, got none');
    const [x, y] = [handle.x + handle.width / 2, handle.y + handle.height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x - 200, y, { steps: 4 });
    await page.mouse.up();
    await expect(page.getByRole('button', { name: /^Undo: fc input gradient: bend at most/ })).toBeEnabled();
    const changed = (await cellNames(page)).filter((name, i) => name !== before[i]);
    expect(changed.length).toBeGreaterThan(0);
    for (const name of changed) expect(name).toMatch(/MLP up projection, input gradient, .*precision BF16/);
  });

  await test.step('Verify jointly: predicted, measured and gap together', async () => {
    expect((await totals())['Measured']).toBe('not yet');
    await verify(page).click();
    await expect.poll(async () => figure((await totals())['Measured']), { timeout: RUN_TIMEOUT }).toBeGreaterThan(0);
    const { Predicted: predicted, Measured: measured, Gap: gap } = await totals();
    const ratio = figure(measured) / figure(predicted);
    expect(ratio).toBeGreaterThan(0.5);
    expect(ratio).toBeLessThan(2);
    // Three significant digits each.
    expect(Math.abs(figure(gap) - (figure(measured) - figure(predicted)))).toBeLessThan(0.02 * figure(measured));
  });

  await test.step('export and share', async () => {
    const file = await exported(page, 'allocation.json');
    expect(file['schema']).toBe('bendscope-allocation/1');
    const sites = Object.values(file['sites'] as Record<string, { format: string; status: string }>);
    expect(sites).toHaveLength(24);
    expect(sites.filter((site) => site.format === 'bf16')).toHaveLength(await countCells(page, 'precision BF16'));
    expect(sites.every((site) => site.status === 'measured')).toBe(true);

    await page.getByRole('button', { name: 'Share' }).click();
    await expect(page.getByText(/^Link copied/)).toBeVisible();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/#v=1&m=gpt2-2x64&d=moby-dick&s=\d+&r=nvfp4&x=&p=[\w-]{10}$/);
  });

  await expect(deviceChip(page, /GPU checked/)).toBeVisible();
  await expect(grid(page)).toBeVisible();
  expect(errors).toEqual([]);
});
