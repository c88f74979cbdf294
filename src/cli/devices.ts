/**
 * The command line's device: opened once by choice, named on stderr, put through the start-up check before anything is
 * measured, and given back at the end.
 */
import { BendscopeError } from '../base/errors';
import { runSelfCheck } from '../engine/self-check';
import type { Gpu } from '../gpu/gpu';
import { openNodeDevice, type AdapterChoice } from '../gpu/node-device';
import type { Flag, Flags } from './command-line';
import { say } from './say';

export const ADAPTERS = ['auto', 'native', 'swiftshader'] as const satisfies readonly AdapterChoice[];

export const ADAPTER_FLAG: Flag = { name: 'adapter', value: 'auto|native|swiftshader', help: 'auto (default): a hardware GPU, else Chromium\'s SwiftShader' };

export class Devices {
  #open = new Map<AdapterChoice, Gpu>();

  /** Throws E-GPU-12 (no such adapter), E-GPU-14 (it computes wrongly). */
  async get(flags: Flags): Promise<Gpu> {
    const choice = flags.oneOf('adapter', ADAPTERS);
    const known = this.#open.get(choice);
    if (known) return known;
    const gpu = await openNodeDevice(choice);
    try {
      say(`adapter: ${gpu.adapterName}${gpu.isFallback ? ' (software)' : ''}`);
      refuseOther(choice, gpu);
      await refuseWrong(gpu);
    } catch (thrown) {
      gpu.device.destroy();
      throw thrown;
    }
    this.#open.set(choice, gpu);
    return gpu;
  }

  dispose(): void {
    for (const gpu of this.#open.values()) gpu.device.destroy();
    this.#open.clear();
  }
}

/** The environment may point the Vulkan loader at another driver than the one asked for. */
function refuseOther(choice: AdapterChoice, gpu: Gpu): void {
  const isSwiftShader = /swiftshader/i.test(`${gpu.adapterName} ${gpu.facts['architecture'] ?? ''}`);
  if (choice === 'auto' || (choice === 'native' ? !gpu.isFallback : isSwiftShader)) return;
  throw new BendscopeError('E-GPU-12', `--adapter ${choice}: expected ${choice === 'native' ? 'a hardware adapter' : 'SwiftShader'}, got ${gpu.adapterName}`, 'Unset VK_DRIVER_FILES, or use --adapter auto.');
}

async function refuseWrong(gpu: Gpu): Promise<void> {
  const checks = await runSelfCheck(gpu);
  const failed = checks.filter((check) => !check.passed);
  const [first] = failed;
  if (!first) return;
  throw new BendscopeError('E-GPU-14', `This graphics driver gave wrong results in ${failed.length} of ${checks.length} checks (${first.name}: ${first.detail}). We will not measure with it.`, 'Use --adapter swiftshader, or another driver.');
}
