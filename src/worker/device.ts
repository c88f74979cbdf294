/**
 * The browser's GPU and why there may be none: five causes, five texts (ux.md 6.6), and the start-up check that stands
 * before any measurement.
 */
import { BendscopeError, toPlainError, type PlainError } from '../base/errors';
import type { CheckResult, DeviceReport } from '../bridge/protocol';
import { runSelfCheck } from '../engine/self-check';
import type { Gpu } from '../gpu/gpu';
import { requestGpu } from '../gpu/request';

export interface FoundDevice {
  readonly gpu: Gpu | null;
  readonly report: DeviceReport;
}

const NONE = { device: 'none', isFallbackAdapter: false, checks: [], facts: {} } as const;

function absent(error: PlainError): FoundDevice {
  return { gpu: null, report: { ...NONE, status: 'absent', error } };
}

/** Never throws: what is wrong is the report. `fault` names a kernel whose output a test wants lost. */
export async function findDevice(useSoftware: boolean, fault?: string): Promise<FoundDevice> {
  if (!globalThis.isSecureContext) {
    return absent(toPlainError(new BendscopeError('E-GPU-10', 'WebGPU needs a secure page. This address starts with http. Your graphics card is not the problem.', 'Open it with https, or on localhost.')));
  }
  const api = (navigator as { gpu?: GPU }).gpu;
  if (!api) {
    return absent(toPlainError(new BendscopeError('E-GPU-11', 'This browser does not offer WebGPU (Chrome 113 or newer does).', 'A company policy or an embedded window can also remove it. Plans can still be edited and exported.')));
  }
  let gpu: Gpu;
  try {
    gpu = await requestGpu(api, navigator.userAgent);
  } catch (thrown) {
    return absent(toPlainError(thrown));
  }
  const about = { device: gpu.adapterName, isFallbackAdapter: gpu.isFallback, facts: gpu.facts };
  if (gpu.isFallback && !useSoftware) {
    gpu.device.destroy();
    const error = toPlainError(new BendscopeError('E-GPU-13', 'Chrome is drawing with the processor, not the graphics card. Results would be right but far slower.', 'Use it anyway, or see chrome://gpu for how to fix it.'));
    return { gpu: null, report: { ...about, status: 'software', error, checks: [] } };
  }
  if (fault !== undefined) gpu.faultyKernel = fault;
  let checks: readonly CheckResult[];
  try {
    checks = await runSelfCheck(gpu);
  } catch (thrown) {
    checks = [{ name: 'start-up check', passed: false, detail: toPlainError(thrown).message }];
  }
  // A device lost in the middle of its check gave no wrong result: it gave none.
  if (gpu.lost) {
    gpu.device.destroy();
    return { gpu: null, report: { ...about, status: 'absent', error: toPlainError(gpu.lostError('it was checked')), checks: [] } };
  }
  const failed = checks.filter((check) => !check.passed);
  const first = failed[0];
  if (!first) return { gpu, report: { ...about, status: 'ready', error: null, checks } };
  gpu.device.destroy();
  const error = toPlainError(new BendscopeError('E-GPU-14', `This graphics driver gave wrong results in ${failed.length} of ${checks.length} checks (${first.name}: ${first.detail}). We will not measure with it.`, 'Copy the report from the device chip. Plans can still be edited and exported.'));
  return { gpu: null, report: { ...about, status: 'refused', error, checks } };
}
