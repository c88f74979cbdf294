/** Drops without a page: files are a name and a text that comes when the test lets it; of two quick drops the later one counts. */
import { describe, expect, it } from 'vitest';
import type { DataSpec, ModelSource } from '../../bridge/protocol';
import { createIntakeQueue } from './intake-queue';

const DATA: DataSpec = { source: 'moby-dick', batches: 4, sequences: 4, tokens: 128, seed: 1 };

/** A page that writes down what is asked of it. */
function page({ isRunning = false } = {}) {
  const log: string[] = [];
  const opened: ModelSource[] = [];
  const actions = {
    openModel: (source: ModelSource) => {
      opened.push(source);
      return Promise.resolve(true);
    },
    importAllocation: (text: string, name: string) => log.push(`import ${name} ${text}`) > 0,
    setData: (data: DataSpec) => Promise.resolve(log.push(`text ${data.text}`) > 0),
    tell: (words: string) => void log.push(words),
    fault: (thrown: unknown) => void log.push((thrown as Error).name),
  };
  const queue = createIntakeQueue({ actions, facts: { getState: () => ({ data: DATA, run: isRunning ? ({} as never) : null }) } });
  return { queue, log, opened, take: (...files: File[]) => queue.take(() => ({ files, folder: null })) };
}

/** A file whose content comes when `come` is called. */
function slow(name: string, content: string) {
  let come = (): void => undefined;
  const ready = new Promise<void>((resolve) => (come = resolve));
  const file = new File([content], name);
  Object.assign(file, { text: () => ready.then(() => content), arrayBuffer: () => ready.then(() => new TextEncoder().encode(content).buffer) });
  return { file, come };
}
const config = (name: string): File => new File([JSON.stringify({ model_type: 'gpt2', _name_or_path: name })], 'config.json');
const tokenizer = (): File => new File(['{"model":{"vocab":{}}}'], 'tokenizer.json');
const weights = (): File => new File(['w'], 'model.safetensors');

describe('dropped files', () => {
  it('make a model in several goes, which opens once it is complete', async () => {
    const { queue, log, opened, take } = page();
    await take(weights());
    await take(config('a'), tokenizer());
    expect(opened).toMatchObject([{ kind: 'files', name: 'a' }]);
    expect(log).toEqual(['Opened a.']);
    expect(queue.store.getState()).toMatchObject({ opening: null, intake: { config: null, weights: null } });
  });

  it('of two quick drops the later one wins, however late the earlier one is read', async () => {
    const { queue, log, opened, take } = page();
    const late = slow('config.json', '{"model_type":"gpt2","_name_or_path":"early"}');
    const plan = slow('plan.json', '{"schema":"bendscope-allocation/1"}');
    const first = take(new File(['early'], 'early.txt'), late.file, weights(), tokenizer());
    const second = take(plan.file);
    const third = take(config('later'));
    late.come();
    plan.come();
    await Promise.all([third, second, first]);
    expect([log, opened]).toEqual([[], []]);
    expect(queue.store.getState().intake).toMatchObject({ config: expect.stringContaining('later') as string, weights: null, tokenizer: null });
  });

  it('a folder that is read to its end after a later drop is let go of, and its fault is not shown', async () => {
    const { queue, log, take } = page();
    let fail = (): void => undefined;
    const folder = queue.take(() => new Promise((_, reject) => (fail = () => reject(new Error('gone')))));
    await take(config('later'));
    fail();
    await folder;
    expect(log).toEqual([]);
    expect(queue.store.getState().intake.config).toContain('later');
  });

  it('a complete model whose weights are still being read gives way to a later complete one', async () => {
    const { queue, log, opened, take } = page();
    const big = slow('model.safetensors', 'early');
    const early = take(config('early'), tokenizer(), big.file);
    await Promise.resolve();
    while (queue.store.getState().opening === null) await new Promise((resolve) => setTimeout(resolve));
    await take(config('later'), tokenizer(), weights());
    big.come();
    await early;
    expect(opened).toMatchObject([{ name: 'later' }]);
    expect(log).toEqual(['Opened later.']);
    expect(queue.store.getState().opening).toBeNull();
  });

  it('that are forgotten while they are read stay forgotten', async () => {
    const { queue, take } = page();
    const late = slow('config.json', '{"model_type":"gpt2"}');
    const taken = take(late.file);
    queue.forget();
    late.come();
    await taken;
    expect(queue.store.getState().intake.config).toBeNull();
  });

  it('are each refused or passed over by name, and the others count', async () => {
    const { queue, log, take } = page();
    await take(new File([], 'model.bin'), config('a'), new File(['Call me'], 'book.txt'), new File([], 'photo.jpg'));
    expect(log).toEqual([expect.stringMatching(/^photo\.jpg was not used/) as string, 'E-FILE-01', 'text Call me', 'book.txt is now the calibration text.']);
    expect(queue.store.getState().intake.config).toContain('"a"');
    await queue.take(() => ({ files: [new File([], 'README'), new File(['x'], 'notes.txt')], folder: 'model' }));
    expect(log).toHaveLength(4);
    expect(queue.store.getState().intake.name).toBe('model');
  });

  it('are not read under a running measurement', async () => {
    const { log, take } = page({ isRunning: true });
    await take(config('a'));
    expect(log).toEqual(['A measurement is running: stop it before opening files.']);
  });
});
