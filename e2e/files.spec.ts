/**
 * What goes out comes back the same, and what should not come in is refused by name with nothing lost. All without a GPU:
 * the address lacks `software=1`, so no test here waits for the start-up check.
 */
import { expect, test, type Page } from '@playwright/test';
import {
  cell, cellNames, chosenFile, chooseModel, countCells, exported, nanoFile, openPage, pairsOf, plan, status, watchErrors, type ChosenFile,
} from './workbench-page';

interface Allocation {
  schema: string;
  readonly plan: { hash: string; readonly notes: string };
  readonly model: { name: string; sha256: string };
  readonly sites: Record<string, { format: string; locked: boolean }>;
}
const allocation = async (page: Page): Promise<Allocation> => (await exported(page, 'allocation.json')) as unknown as Allocation;
const formats = (file: Allocation): Record<string, string> => Object.fromEntries(Object.entries(file.sites).map(([id, site]) => [id, `${site.format}${site.locked ? ' locked' : ''}`]));

async function importFile(page: Page, text: string, name = 'plan.allocation.json'): Promise<void> {
  const dialog = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await (await dialog).setFiles([chosenFile(name, text)]);
}

/** A plan that no preset gives: a painted row, a painted layer's cell, a lock, a note. */
async function editPlan(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^down forward, .*select the row/ }).click();
  await page.keyboard.press('b');
  await cell(page, 2, 'attention output projection', 'weight gradient').click();
  await page.getByRole('radio', { name: 'BF16' }).check();
  await page.getByRole('checkbox', { name: 'Lock', exact: true }).check();
  await page.getByRole('tab', { name: 'Plan', exact: true }).click();
  await page.getByRole('textbox', { name: 'Notes' }).fill('forward passes of the down projection');
  await page.getByRole('textbox', { name: 'Notes' }).blur();
  expect(await countCells(page, 'precision BF16')).toBe(7);
}

test('export, change everything, import: the same plan, the same hash', async ({ page }) => {
  const errors = watchErrors(page);
  await openPage(page, '/');
  await editPlan(page);
  const before = await allocation(page);
  const names = await cellNames(page);
  await cell(page, 2, 'attention output projection', 'weight gradient').click();
  await page.keyboard.press('l');
  await page.getByRole('tab', { name: 'Baselines' }).click();
  await page.getByRole('button', { name: 'Apply All BF16' }).click();
  expect(await countCells(page, 'precision BF16')).toBe(72);
  expect((await allocation(page)).plan.hash).not.toBe(before.plan.hash);

  await importFile(page, JSON.stringify(before));
  await expect(page.getByText('Imported plan.allocation.json')).toBeVisible();
  const after = await allocation(page);
  expect(after.plan.hash).toBe(before.plan.hash);
  expect(before.plan.hash).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(formats(after)).toEqual(formats(before));
  expect(after).toEqual(before);
  expect(await cellNames(page)).toEqual(names);
  await page.getByRole('button', { name: 'Undo: import plan.allocation.json' }).click();
  expect(await countCells(page, 'precision BF16')).toBe(72);
  expect(errors).toEqual([]);
});

test('a share link opened elsewhere gives the same plan', async ({ page, context, browser }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openPage(page, '/');
  await editPlan(page);
  const sent = await allocation(page);
  await page.getByRole('button', { name: 'Share' }).click();
  await expect(page.getByText(/^Link copied/)).toBeVisible();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link).toMatch(/#v=1&m=gpt2-mini&d=moby-dick&s=\d+&r=nvfp4&x=&p=[\w-]{26}$/);

  // Another browser: nothing of this one's storage.
  const other = await browser.newContext();
  const there = await other.newPage();
  const errors = watchErrors(there);
  await openPage(there, link);
  const received = await allocation(there);
  expect(received.plan.hash).toBe(sent.plan.hash);
  expect(Object.values(received.sites).map((site) => site.format)).toEqual(Object.values(sent.sites).map((site) => site.format));
  // Once applied it is part of the document: later edits survive a reload.
  expect(new URL(there.url()).hash).toBe('');
  await there.getByRole('button', { name: 'Undo: open link' }).click();
  expect(await countCells(there, 'precision BF16')).toBe(0);
  expect(errors).toEqual([]);
  await other.close();
});

/** What must be the same after a refusal: model, text, every cell with its figures and precision, totals, history. */
async function everything(page: Page): Promise<unknown> {
  return {
    model: await page.getByRole('region', { name: 'Model', exact: true }).innerText(),
    text: await page.getByRole('region', { name: 'Probe', exact: true }).innerText(),
    cells: await cellNames(page),
    plan: await pairsOf(plan(page)),
    undo: await page.getByRole('banner').getByRole('button', { name: /^Undo/ }).getAttribute('aria-label'),
  };
}

/** The notice stands until it is dismissed; then the page is as before. */
async function refused(page: Page, code: string, words: RegExp, act: () => Promise<void>): Promise<void> {
  await test.step(`${code} ${words.source}`, async () => {
    const before = await everything(page);
    await act();
    const notice = page.getByRole('alert').filter({ hasText: code });
    await expect(notice).toBeVisible();
    await expect(notice).toContainText(words);
    await expect(status(page)).toContainText('1 warning');
    await notice.getByRole('button', { name: 'Dismiss' }).click();
    await expect(notice).toBeHidden();
    expect(await everything(page)).toEqual(before);
  });
}

async function drop(page: Page, files: readonly ChosenFile[]): Promise<void> {
  const transfer = await page.evaluateHandle((contents) => {
    const data = new DataTransfer();
    for (const { name, text } of contents) data.items.add(new File([text], name));
    return data;
  }, files.map(({ name, buffer }) => ({ name, text: buffer.toString('latin1') })));
  for (const type of ['dragenter', 'dragover', 'drop']) await page.getByRole('main').dispatchEvent(type, { dataTransfer: transfer });
}

test('model files that cannot be: each refused by name, nothing lost', async ({ page }) => {
  const errors = watchErrors(page);
  await openPage(page, '/');
  await editPlan(page);
  const weights = nanoFile('model.safetensors');
  const config = JSON.parse(nanoFile('config.json').toString()) as Record<string, unknown>;
  const open = (bytes: Uint8Array, configuration: unknown = config) => (): Promise<void> =>
    chooseModel(page, [
      chosenFile('config.json', typeof configuration === 'string' ? configuration : JSON.stringify(configuration)),
      chosenFile('model.safetensors', bytes),
      chosenFile('tokenizer.json', nanoFile('tokenizer.json')),
    ]);

  await refused(page, 'E-FILE-07', /model\.safetensors is damaged: .*cut off.* at byte \d+/, open(weights.subarray(0, weights.length - 1000)));
  await refused(page, 'E-FILE-07', /model\.safetensors is damaged: .*cut off.* at byte 8/, open(weights.subarray(0, 700)));
  await refused(page, 'E-FILE-07', /model\.safetensors is damaged: .* at byte \d+/, open(new Uint8Array(4096).map((_, i) => (i * 151 + 77) & 0xff)));
  await refused(page, 'E-FILE-07', /model\.safetensors is damaged: .*0 bytes/, open(new Uint8Array(0)));
  await refused(page, 'E-FILE-04', /Git LFS pointer/, open(Buffer.from('version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 341776\n')));
  await refused(page, 'E-FILE-03', /wte\.weight has shape \[1024, 64\]; config\.json implies \[1024, 128\]/, open(weights, { ...config, n_embd: 128 }));
  await refused(page, 'E-FILE-03', /Missing: h\.2\./, open(weights, { ...config, n_layer: 3 }));
  await refused(page, 'E-FILE-03', /config\.json implies no such tensor: its last layer is h\.0/, open(weights, { ...config, n_layer: 1 }));
  await refused(page, 'E-FILE-07', /config\.json is damaged/, open(weights, '{"model_type": "gpt2", '));
  await refused(page, 'E-FILE-08', /activation_function: expected gelu_new, got "relu"/, open(weights, { ...config, activation_function: 'relu' }));
  await refused(page, 'E-FILE-01', /pytorch_model\.bin is a PyTorch pickle\. Opening it would run code, so we do not\./, () => drop(page, [chosenFile('pytorch_model.bin', 'PK')]));
  expect(errors).toEqual([]);
});

test('texts and tokenizers that cannot be: each refused by name, nothing lost', async ({ page }) => {
  const errors = watchErrors(page);
  await openPage(page, '/');
  await editPlan(page);
  const chip = page.getByRole('banner').getByRole('button', { name: /tokens/ });
  const dialog = page.getByRole('dialog', { name: 'Calibration data' });
  const takeText = async (text: string): Promise<void> => {
    await chip.click();
    await dialog.getByRole('radio', { name: /Your own text/ }).check();
    await dialog.getByRole('textbox').fill(text);
    await dialog.getByRole('button', { name: 'Use this text' }).click();
  };
  for (const [text, words] of [['', 'Only 0 tokens: the text is empty.'], ['   \n\n', 'Only 0 tokens: the text is empty.'], ['Call me Ishmael.', /Only \d+ tokens: at least 2294 are needed for 16 windows\./]] as const) {
    await test.step(`E-DATA-01 ${String(words)}`, async () => {
      const before = await everything(page);
      await takeText(text);
      await expect(dialog.getByRole('alert')).toContainText('E-DATA-01');
      await expect(dialog.getByRole('alert')).toContainText(words);
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await expect(dialog).toBeHidden();
      await page.getByRole('alert').filter({ hasText: 'E-DATA-01' }).getByRole('button', { name: 'Dismiss' }).click();
      expect(await everything(page)).toEqual(before);
    });
  }

  const tokenizer = JSON.parse(nanoFile('tokenizer.json').toString()) as { added_tokens: unknown[] };
  const withToken = { ...tokenizer, added_tokens: [...tokenizer.added_tokens, { id: 5000, content: 'whale', single_word: false, lstrip: false, rstrip: false, normalized: false, special: false }] };
  const openWith = (text: string): Promise<void> =>
    chooseModel(page, [chosenFile('config.json', nanoFile('config.json')), chosenFile('model.safetensors', nanoFile('model.safetensors')), chosenFile('tokenizer.json', text)]);
  await refused(page, 'E-FILE-07', /tokenizer\.json is damaged/, () => openWith('{"model": {"vocab": '));
  await test.step('E-DATA-02 a token id outside the vocabulary', async () => {
    await openWith(JSON.stringify(withToken));
    await expect(page.getByRole('region', { name: 'Model', exact: true })).toContainText('2 layers');
    const before = await everything(page);
    await chip.click();
    await dialog.getByRole('button', { name: 'Use this text' }).click();
    await expect(dialog.getByRole('alert')).toContainText('E-DATA-02 Token 5000 is outside the vocabulary of 1024.');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await everything(page)).toEqual(before);
  });
  expect(errors).toEqual([]);
});

test('plans and links that cannot be: each refused by name, nothing lost', async ({ page }) => {
  const errors = watchErrors(page);
  await openPage(page, '/');
  await editPlan(page);
  const good = await allocation(page);
  const changed = (change: (file: Allocation) => void): string => {
    const copy = structuredClone(good);
    change(copy);
    return JSON.stringify(copy);
  };
  const import_ = (text: string) => (): Promise<void> => importFile(page, text);
  const otherHash = `sha256:${'0'.repeat(64)}`;

  await refused(page, 'E-PLAN-01', /This plan was made for "gpt2"; the open model is "gpt2-mini"/, import_(changed((file) => Object.assign(file.model, { name: 'gpt2', sha256: otherHash }))));
  await refused(page, 'E-PLAN-01', /with weights "sha256:0000/, import_(changed((file) => Object.assign(file.model, { sha256: otherHash }))));
  await refused(page, 'E-VER-01', /Saved with a newer version \(bendscope-allocation\/2\): not opened/, import_(changed((file) => Object.assign(file, { schema: 'bendscope-allocation/2' }))));
  await refused(page, 'E-VER-01', /expected schema bendscope-allocation\/1, got "bendscope-probe\/1"/, import_(changed((file) => Object.assign(file, { schema: 'bendscope-probe/1' }))));
  await refused(page, 'E-FILE-07', /plan\.allocation\.json is damaged: not JSON at byte \d+/, import_(JSON.stringify(good).slice(0, 900)));
  await refused(page, 'E-FILE-07', /plan\.hash is not the hash of its formats/, import_(changed((file) => Object.assign(file.sites['h.0.mlp.c_fc:fprop'] ?? {}, { format: 'bf16' }))));
  await refused(page, 'E-PLAN-02', /h\.9\.mlp\.c_fc:fprop/, import_(changed((file) => Object.assign(file.sites, { 'h.9.mlp.c_fc:fprop': file.sites['h.0.mlp.c_fc:fprop'] }))));
  await refused(page, 'E-PLAN-02', /h\.0\.mlp\.c_fc:fprop is missing/, import_(changed((file) => Reflect.deleteProperty(file.sites, 'h.0.mlp.c_fc:fprop'))));

  const follow = (hash: string) => (): Promise<void> => page.evaluate((fragment) => void (location.hash = fragment), hash);
  const packed = 'A'.repeat(26);
  await refused(page, 'E-VER-01', /Saved with a newer version \(link 2\)/, follow(`#v=2&m=gpt2-mini&d=moby-dick&s=1&r=nvfp4&x=&p=${packed}`));
  await refused(page, 'E-PLAN-01', /This plan was made for "gpt2"/, follow(`#v=1&m=gpt2&d=moby-dick&s=1&r=nvfp4&x=&p=${packed}`));
  await refused(page, 'E-LINK-01', /The link is damaged/, follow(`#v=1&m=gpt2-mini&d=moby-dick&s=1&r=nvfp4&x=&p=${packed.slice(1)}`));
  expect(errors).toEqual([]);
});
