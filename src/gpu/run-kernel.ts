/**
 * Runs one kernel once on given words: what kernel tests and the start-up check use. Not for hot paths.
 */
import { grid, whole, PARAMS_BYTES, type Constants, type Gpu, type KernelRow } from './gpu';

export interface KernelRun {
  readonly row: KernelRow;
  readonly constants?: Constants;
  /** The Params struct as 32-bit words, in the order of its fields. */
  readonly params: ArrayBufferView;
  /** One entry per binding 1..n: words that are uploaded, or a byte count of zeros. */
  readonly buffers: readonly (ArrayBufferView | number)[];
  readonly invocations: number;
  readonly workgroup?: number;
}

/** Returns the bytes of every binding after the run, in order. A kernel that a test declared faulty writes nothing. */
export async function runKernel(gpu: Gpu, run: KernelRun): Promise<ArrayBuffer[]> {
  const { pipeline, layout, workgroup } = await gpu.pipeline(run.row, run.constants, run.workgroup);
  const params = gpu.createBuffer(`params/${run.row.name}`, PARAMS_BYTES, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST);
  const buffers = run.buffers.map((content, i) => {
    const bytes = typeof content === 'number' ? content : content.byteLength;
    const buffer = gpu.createBuffer(`${run.row.name}/${i + 1}`, bytes);
    if (typeof content !== 'number') gpu.write(buffer, content);
    return { buffer, bytes };
  });
  try {
    gpu.write(params, run.params);
    const group = gpu.bindGroup(run.row.name, layout, params, buffers.map(({ buffer }) => whole(buffer)));
    const encoder = gpu.device.createCommandEncoder({ label: run.row.name });
    if (gpu.faultyKernel !== run.row.name) {
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group, [0]);
      pass.dispatchWorkgroups(...grid(run.invocations, workgroup));
      pass.end();
    }
    gpu.device.queue.submit([encoder.finish()]);
    return await Promise.all(buffers.map(({ buffer, bytes }) => gpu.read(buffer, bytes)));
  } finally {
    for (const { buffer } of buffers) gpu.destroyBuffer(buffer);
    gpu.destroyBuffer(params);
  }
}
