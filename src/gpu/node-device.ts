/**
 * A device under Node through Dawn (`webgpu`): a native GPU if there is one, else Chromium's SwiftShader, whose bits
 * are those of the same adapter in the browser. Used by the command line and the kernel tests; never by the page.
 */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { BendscopeError } from '../base/errors';
import type { Gpu } from './gpu';
import { requestGpu } from './request';

const SWIFTSHADER_PLACES = [
  '/usr/lib/chromium', '/usr/lib/chromium-browser', '/usr/lib64/chromium-browser', '/opt/google/chrome', '/opt/chromium.org/chromium', '/snap/chromium/current/usr/lib/chromium-browser',
].map((folder) => `${folder}/vk_swiftshader_icd.json`);

export type AdapterChoice = 'auto' | 'native' | 'swiftshader';

/**
 * Dawn's instances, kept for the life of the process: one that is garbage-collected while its device works takes the
 * process down. On globalThis, because a test runner may load this module more than once.
 */
const KEPT = Symbol.for('bendscope.dawn');
function keptInstances(): Map<string, GPU> {
  const holder = globalThis as { [KEPT]?: Map<string, GPU> };
  return (holder[KEPT] ??= new Map());
}

/** How often Dawn asks whether the device is done. */
const POLL_MS = 1;
const POLLED = Symbol.for('bendscope.dawn polls');

/**
 * While anything is awaited, Dawn for Node polls with setImmediate, looked up on globalThis at every turn of the event loop:
 * a core that the software adapter needs. Its callbacks, native functions without a name, wait for a timer instead.
 */
function pollSeldom(): void {
  const holder = globalThis as { [POLLED]?: boolean };
  if (holder[POLLED]) return;
  holder[POLLED] = true;
  const immediate = globalThis.setImmediate;
  const isDawns = (callback: unknown): boolean => typeof callback === 'function' && callback.name === '' && Function.prototype.toString.call(callback).includes('[native code]');
  globalThis.setImmediate = new Proxy(immediate, {
    apply: (target, self, args: [() => void]) => (isDawns(args[0]) ? setTimeout(args[0], POLL_MS) : Reflect.apply(target, self, args)),
  });
}

async function open(driver: string | null): Promise<Gpu | null> {
  // Dawn's Vulkan loader reads the environment when the instance is made, so one driver choice is one instance.
  if (driver !== null) process.env['VK_DRIVER_FILES'] = driver;
  process.env['XDG_RUNTIME_DIR'] ??= tmpdir();
  const { create, globals } = await import('webgpu');
  Object.assign(globalThis, globals);
  pollSeldom();
  const instances = keptInstances();
  const api = instances.get(driver ?? '') ?? create([]);
  instances.set(driver ?? '', api);
  return requestGpu(api, 'Dawn for Node');
}

/** Whether asking for a native adapter is worth it: without a graphics device Dawn only fills stderr with warnings. */
function mayHaveHardware(): boolean {
  return process.platform !== 'linux' || ['/dev/dri', '/dev/nvidia0', '/dev/dxg'].some((path) => existsSync(path));
}

/** Opens a device; `native` and `swiftshader` accept only that. Throws E-GPU-12 when there is none. */
export async function openNodeDevice(choice: AdapterChoice = 'auto'): Promise<Gpu> {
  const preset = process.env['VK_DRIVER_FILES'];
  if (choice === 'native' || (choice === 'auto' && preset === undefined && mayHaveHardware())) {
    const native = await open(null).catch(() => null);
    if (native && !native.isFallback) return native;
    if (choice === 'native') {
      throw new BendscopeError('E-GPU-12', '--adapter native: expected a hardware adapter, got none', 'Install its Vulkan driver, or use --adapter swiftshader.');
    }
  }
  const driver = preset ?? SWIFTSHADER_PLACES.find((path) => existsSync(path));
  if (driver !== undefined) {
    const software = await open(driver).catch(() => null);
    if (software) return software;
  }
  throw new BendscopeError('E-GPU-12', `--adapter ${choice}: expected a Vulkan adapter, got none`, 'Install Chromium and libvulkan1 (Debian, Ubuntu: apt-get install chromium libvulkan1), or a GPU driver.');
}
