/**
 * Adapter -> device, the same in browser and Node. Limits are raised only for buffer sizes, never beyond the adapter's.
 */
import { BendscopeError } from '../base/errors';
import { Gpu } from './gpu';

/** Throws E-GPU-12 when no adapter is offered. */
export async function requestGpu(api: GPU, host: string): Promise<Gpu> {
  const adapter = await api.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) {
    throw new BendscopeError('E-GPU-12', 'Chrome found no usable graphics adapter.', 'Check chrome://gpu. On Linux you may need the Vulkan flag.');
  }
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
  const device = await adapter.requestDevice({
    label: 'bendscope',
    requiredLimits: { maxBufferSize, maxStorageBufferBindingSize },
  });
  const info = adapter.info;
  const name = info.description || info.device || `${info.vendor} ${info.architecture}`.trim() || 'unnamed adapter';
  const isFallback = info.isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|basic render/i.test(`${name} ${info.vendor} ${info.architecture}`);
  return new Gpu(device, {
    name,
    isFallback,
    facts: {
      host,
      vendor: info.vendor,
      architecture: info.architecture,
      device: info.device,
      description: info.description,
      'largest buffer': `${maxBufferSize}`,
      'largest binding': `${maxStorageBufferBindingSize}`,
      'software adapter': isFallback ? 'yes' : 'no',
    },
  });
}
