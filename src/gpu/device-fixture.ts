/**
 * The GPU of the tests: one device a process, whose pipelines every file of the process finds compiled. Compiling is what
 * costs on the software adapter: 0.15 s of processor time a pipeline. Nobody destroys it; a file checks that it leaves no buffer.
 */
import type { Gpu } from './gpu';
import { openNodeDevice } from './node-device';

/** On globalThis, because a test runner may load this module more than once. */
const SHARED = Symbol.for('bendscope.device of the tests');
const holder = globalThis as { [SHARED]?: Gpu };

/** A device without buffers or faults: another one where a failed file has left its own in disorder. */
export async function sharedGpu(): Promise<Gpu> {
  const known = holder[SHARED];
  if (known && known.lost === null && known.liveBuffers === 0 && known.faultyKernel === null) return known;
  known?.device.destroy();
  return (holder[SHARED] = await openNodeDevice());
}
