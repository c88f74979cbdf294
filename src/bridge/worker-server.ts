/**
 * The worker's end of the boundary: exposes a WorkerApi over comlink. What every method needs is done once, here:
 * errors leave as {name, message, hint} (structured clone of an Error keeps no hint), every event is delivered before
 * its call ends, and the callback's message port is released afterwards.
 */
import * as Comlink from 'comlink';
import { toPlainError } from '../base/errors';
import type { ProbeEvent, WorkerApi } from './protocol';

type OnEvent = (event: ProbeEvent) => void;

/** Serves `api` on `endpoint`, in a worker by default its own global scope. */
export function exposeWorker(api: WorkerApi, endpoint?: Comlink.Endpoint): void {
  const served: WorkerApi = {
    start: (options) => plainErrors(() => api.start(options)),
    openModel: (source) => plainErrors(() => api.openModel(source)),
    openData: (spec) => plainErrors(() => api.openData(spec)),
    runProbe: (request, onEvent) => withEvents(onEvent, (emit) => api.runProbe(request, emit)),
    verifyJointly: (request, onEvent) => withEvents(onEvent, (emit) => api.verifyJointly(request, emit)),
    pause: (runId) => plainErrors(() => api.pause(runId)),
    resume: (runId) => plainErrors(() => api.resume(runId)),
    cancel: (runId) => plainErrors(() => api.cancel(runId)),
  };
  Comlink.expose(served, endpoint);
}

async function plainErrors<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    throw toPlainError(thrown);
  }
}

/** Runs with a callback that never throws or waits; before returning, all events have arrived and the port is free. */
async function withEvents<T>(onEvent: OnEvent, run: (emit: OnEvent) => Promise<T>): Promise<T> {
  const remote = onEvent as unknown as Comlink.Remote<OnEvent>;
  const deliveries = new Set<Promise<void>>();
  const emit: OnEvent = (event) => {
    const delivery = remote(event).then(
      () => undefined,
      // A fault of the page's listener must not end a measurement; it is shown where developers look.
      (thrown: unknown) => console.error('event listener failed', event.kind, thrown),
    );
    const tracked = delivery.then(() => void deliveries.delete(tracked));
    deliveries.add(tracked);
  };
  try {
    return await plainErrors(() => run(emit));
  } finally {
    await Promise.all(deliveries);
    remote[Comlink.releaseProxy]();
  }
}
