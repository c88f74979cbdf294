/**
 * The page's end of the worker boundary: starts the measuring worker and gives its WorkerApi with named errors.
 * The only file that constructs the worker. Progress callbacks cross as comlink proxies; the worker's end
 * (worker-server.ts) releases them after the last event, so no message port outlives its run.
 */
import * as Comlink from 'comlink';
import { BendscopeError, toPlainError } from '../base/errors';
import type { WorkerApi } from './protocol';

export interface WorkerConnection {
  readonly api: WorkerApi;
  /** Ends the worker at once. Calls under way reject with E-WRK-01, and so do later ones. */
  terminate(): void;
}

/** Starts the measuring worker. `onStopped` hears of a crash or a failed load, once; then connect again. */
export function connectWorker(onStopped?: (error: BendscopeError) => void): WorkerConnection {
  const worker = new Worker(new URL('../worker/main.ts', import.meta.url), { type: 'module', name: 'bendscope' });
  const client = wrapEndpoint(worker);
  const stop = (reason: string): void => {
    worker.terminate();
    const error = new BendscopeError('E-WRK-01', `The measuring worker stopped: ${reason}. Measured cells are kept.`, 'Reload the page, or run again.');
    if (client.stop(error)) onStopped?.(error);
  };
  worker.addEventListener('error', (event) => stop(event.message || 'its script could not be loaded'));
  worker.addEventListener('messageerror', () => stop('a message could not be read'));
  return {
    api: client.api,
    terminate() {
      worker.terminate();
      client.stop(new BendscopeError('E-WRK-01', 'The measuring worker was ended.', 'Run again to start a new one.'));
    },
  };
}

export interface EndpointClient {
  readonly api: WorkerApi;
  /** Rejects all calls, now and later. False if already stopped. */
  stop(error: BendscopeError): boolean;
}

/** The WorkerApi over any endpoint (worker, message port): plain errors come back as BendscopeError. */
export function wrapEndpoint(endpoint: Comlink.Endpoint): EndpointClient {
  const remote = Comlink.wrap<WorkerApi>(endpoint);
  const waiting = new Set<(error: BendscopeError) => void>();
  let stopped: BendscopeError | null = null;

  function call<T>(run: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (stopped !== null) return reject(stopped);
      waiting.add(reject);
      const settle = (): boolean => waiting.delete(reject);
      run().then(
        (value) => settle() && resolve(value),
        (thrown: unknown) => {
          settle();
          reject(toBendscopeError(thrown));
        },
      );
    });
  }

  const api: WorkerApi = {
    start: (options) => call(() => remote.start(options)),
    // Weights move instead of being copied: the caller's buffer is empty afterwards.
    openModel: (source) => call(() => remote.openModel(source.kind === 'files' ? Comlink.transfer(source, [source.weights]) : source)),
    openData: (spec) => call(() => remote.openData(spec)),
    // A fresh function each time, because comlink marks and later releases the very object it is given.
    runProbe: (request, onEvent) => call(() => remote.runProbe(request, Comlink.proxy((event) => onEvent(event)))),
    verifyJointly: (request, onEvent) => call(() => remote.verifyJointly(request, Comlink.proxy((event) => onEvent(event)))),
    pause: (runId) => call(() => remote.pause(runId)),
    resume: (runId) => call(() => remote.resume(runId)),
    cancel: (runId) => call(() => remote.cancel(runId)),
  };
  return {
    api,
    stop(error) {
      if (stopped !== null) return false;
      stopped = error;
      for (const reject of waiting) reject(error);
      waiting.clear();
      return true;
    },
  };
}

function toBendscopeError(thrown: unknown): BendscopeError {
  if (thrown instanceof BendscopeError) return thrown;
  const plain = toPlainError(thrown);
  return new BendscopeError(plain.name, plain.message, plain.hint);
}
