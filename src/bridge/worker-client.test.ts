/** Both ends of the boundary over a real message channel: errors, events, their order, transfer, release, a stopped worker. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BendscopeError } from '../base/errors';
import type { JointResult } from '../graph/probe-record';
import type { DataSpec, ProbeEvent, WorkerApi } from './protocol';
import { wrapEndpoint } from './worker-client';
import { exposeWorker } from './worker-server';

const DATA: DataSpec = { source: 'moby-dick', batches: 1, sequences: 1, tokens: 8, seed: 0 };
const PROBE = { runId: 'r', modelSha256: 'sha256:0', recipe: 'nvfp4', options: {}, extra: { persistent: false, leaveOneOut: false }, sites: ['h.0.mlp.c_fc:fprop'], data: DATA } as const;
const JOINT: JointResult = { planHash: 'sha256:0', lowSites: 1, result: { status: 'failed', errorName: 'E-X', reason: 'r' } };

const ports: MessagePort[] = [];
afterEach(() => {
  for (const port of ports.splice(0)) port.close();
  vi.restoreAllMocks();
});

function connect(overrides: Partial<WorkerApi>) {
  const unexpected = (): Promise<never> => Promise.reject(new Error('not expected here'));
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  const api: WorkerApi = {
    start: unexpected, openModel: unexpected, openData: unexpected, runProbe: unexpected,
    verifyJointly: unexpected, pause: unexpected, resume: unexpected, cancel: unexpected, ...overrides,
  };
  exposeWorker(api, port2);
  return wrapEndpoint(port1);
}

describe('the worker boundary', () => {
  it('passes arguments and results', async () => {
    const heard: string[] = [];
    const opened = { dataName: 'Moby-Dick', tokensSha256: 'sha256:1', tokenCount: 800, firstWindow: 'Call me' };
    const client = connect({ openData: (spec) => Promise.resolve({ ...opened, tokenCount: spec.tokens * 100 }), pause: (id) => Promise.resolve(void heard.push(id)) });
    expect(await client.api.openData(DATA)).toEqual(opened);
    await client.api.pause('run 1');
    expect(heard).toEqual(['run 1']);
  });

  it('keeps name, message and hint of an error', async () => {
    const client = connect({ openData: () => Promise.reject(new BendscopeError('E-DATA-01', 'Only 3 tokens.', 'Add text.')) });
    const error: unknown = await client.api.openData(DATA).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BendscopeError);
    expect(error).toMatchObject({ name: 'E-DATA-01', message: 'Only 3 tokens.', hint: 'Add text.' });
    await expect(client.api.cancel('r')).rejects.toMatchObject({ name: 'E-BUG-00', message: 'not expected here' });
  });

  it('names what cannot be sent', async () => {
    const client = connect({});
    const spec = { ...DATA, text: (() => 'no text') as unknown as string };
    await expect(client.api.openData(spec)).rejects.toMatchObject({ name: 'DataCloneError' });
  });

  it('moves the weights instead of copying them', async () => {
    let received = -1;
    const client = connect({
      openModel(source) {
        received = source.kind === 'files' ? source.weights.byteLength : -1;
        return Promise.reject(new BendscopeError('E-FILE-07', 'damaged'));
      },
    });
    const weights = new ArrayBuffer(4096);
    await expect(client.api.openModel({ kind: 'files', name: 'm', config: '{}', weights, tokenizer: null })).rejects.toThrow('damaged');
    expect(received).toBe(4096);
    expect(weights.byteLength).toBe(0);
  });

  it('delivers every event, in order, before the call ends', async () => {
    const sent: ProbeEvent[] = Array.from({ length: 100 }, (_, i) => ({ kind: 'phase', runId: 'r', modelSha256: 'sha256:0', text: String(i) }));
    const client = connect({
      runProbe(_request, onEvent) {
        for (const event of sent) onEvent(event);
        return Promise.resolve();
      },
      verifyJointly(_request, onEvent) {
        onEvent({ kind: 'joint', runId: 'r', joint: JOINT });
        return Promise.resolve(JOINT);
      },
    });
    const heard: ProbeEvent[] = [];
    await client.api.runProbe(PROBE, (event) => heard.push(event));
    expect(heard).toEqual(sent);
    const joint = await client.api.verifyJointly({ runId: 'r', modelSha256: 'sha256:0', recipe: 'nvfp4', policy: { reference: 'bf16', passes: {}, options: {} }, planHash: 'sha256:0', data: DATA }, (event) => heard.push(event));
    expect(joint).toEqual(JOINT);
    expect(heard).toHaveLength(101);
  });

  it('survives a listener that throws, and still throws the error of the run', async () => {
    const shown = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const client = connect({
      runProbe(_request, onEvent) {
        onEvent({ kind: 'paused', runId: 'r' });
        return Promise.reject(new BendscopeError('E-GPU-02', 'gone', 'reconnect'));
      },
    });
    const run = client.api.runProbe(PROBE, () => {
      throw new Error('listener');
    });
    await expect(run).rejects.toMatchObject({ name: 'E-GPU-02', hint: 'reconnect' });
    expect(shown).toHaveBeenCalledOnce();
  });

  it('closes the message port of every callback', async () => {
    let opened = 0;
    let closed = 0;
    const Channel = globalThis.MessageChannel;
    const client = connect({ runProbe: (_request, onEvent) => Promise.resolve(onEvent({ kind: 'finished', runId: 'r' })) });
    vi.stubGlobal('MessageChannel', function open() {
      const channel = new Channel();
      opened++;
      channel.port1.addEventListener('close', () => closed++);
      return channel;
    });
    for (let run = 0; run < 5; run++) await client.api.runProbe(PROBE, () => undefined);
    vi.unstubAllGlobals();
    expect(opened).toBe(5);
    await vi.waitFor(() => expect(closed).toBe(5));
  });

  it('rejects calls under way and later ones once the worker has stopped', async () => {
    const client = connect({ runProbe: () => new Promise<void>(() => undefined) });
    const run = client.api.runProbe(PROBE, () => undefined);
    expect(client.stop(new BendscopeError('E-WRK-01', 'stopped', 'reload'))).toBe(true);
    expect(client.stop(new BendscopeError('E-WRK-01', 'again', 'reload'))).toBe(false);
    await expect(run).rejects.toMatchObject({ name: 'E-WRK-01', message: 'stopped' });
    await expect(client.api.openData(DATA)).rejects.toMatchObject({ name: 'E-WRK-01' });
  });
});
