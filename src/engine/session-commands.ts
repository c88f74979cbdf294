/**
 * Steps to commands: which buffer every binding of a run means, and the comparisons that follow its parameter gradients.
 * Values come from a set each, resources from the shared buffers or the current batch.
 */
import { whole, type BufferSlice } from '../gpu/gpu';
import { part, type SessionBuffers } from './buffers';
import { compareCommand, firstOrderCommand, outErrorCommand } from './comparison';
import type { ResolvedCommand } from './executor';
import type { LocalError } from './local-error';
import type { BufferSet, comparePlan } from './memory';
import { isClear, type Binding, type Step, type ValueKey } from './program';
import { shiftCommand } from './shifts';

export class SessionCommands {
  #buffers: SessionBuffers;
  #plan: ReturnType<typeof comparePlan>;
  #reference: BufferSet;

  /** reference: the current batch's set. */
  constructor(buffers: SessionBuffers, plan: ReturnType<typeof comparePlan>, reference: BufferSet) {
    this.#buffers = buffers;
    this.#plan = plan;
    this.#reference = reference;
  }

  /** Every run starts from cleared sums and a cleared count, so that no run can report another's. */
  start(): ResolvedCommand[] {
    return ['sums', 'low:alpha'].flatMap((key) => {
      const buffer = this.#buffers.find('shared', key);
      return buffer ? [{ clear: buffer }] : [];
    });
  }

  /** dirty: values that the run writes into the work set; moved: values that are somewhere else altogether. */
  step(step: Step, dirty: ReadonlySet<ValueKey> | null, moved: ReadonlyMap<ValueKey, BufferSlice> = new Map()): ResolvedCommand[] {
    const slice = (b: Binding): BufferSlice => {
      if ('resource' in b) return whole(this.#buffers.get(this.#reference, b.resource));
      return moved.get(b.value) ?? whole(this.#buffers.get(b.from !== 'reference' && dirty?.has(b.value) ? 'work' : this.#reference, b.value));
    };
    return step.commands.map((command) =>
      isClear(command)
        ? { clear: slice(command.clear).buffer }
        : { label: `${command.kernel}/${step.slot}`, dispatch: command, slices: command.bindings.map(slice) });
  }

  /** Where a variant's step puts its parameter gradients: side by side in scratch, each at a binding's alignment. */
  scratchGradients(step: Step): Map<ValueKey, BufferSlice> {
    const slices = new Map<ValueKey, BufferSlice>();
    let offset = 0;
    for (const key of step.writes) {
      if (!key.startsWith('dw:')) continue;
      const { size } = this.#buffers.get(this.#reference, key);
      slices.set(key, part(this.#buffers.shared('scratch:dw'), offset, size));
      offset += Math.ceil(size / 256) * 256;
    }
    return slices;
  }

  /** gradient: of a variant, in scratch; by default the reference's own. */
  compare(param: string, gradient?: BufferSlice): ResolvedCommand {
    const reference = whole(this.#buffers.get(this.#reference, `dw:${param}`));
    const g = gradient ?? reference;
    return compareCommand(param, g, reference, g.size / 16, this.#plan.first.get(param) ?? 0, this.#sums);
  }

  /** The gradients that a variant touched against the reference's -> shift set k; d = 0 of the others. */
  keepShift(k: number, param: string, gradient: BufferSlice | null): ResolvedCommand {
    const d = this.#buffers.get(`shift ${k}`, `d:${param}`);
    return gradient ? shiftCommand(param, gradient, whole(this.#buffers.get(this.#reference, `dw:${param}`)), d) : { clear: d };
  }

  /** A site's two outputs, compared, and weighed by the gradient that arrives there unless they are gradients themselves. */
  localError({ steps, low, high, bf16, quads, arriving }: LocalError): ResolvedCommand[] {
    const size = quads * (bf16 ? 8 : 16);
    const [q, r] = [this.#start(low, size), this.#start(high, size)];
    const first = this.#plan.localErrorFirst;
    return [
      ...steps.flatMap((step) => this.step(step, null)),
      bf16 ? outErrorCommand(q, r, quads, first, this.#sums) : compareCommand('local-error', q, r, quads, first, this.#sums),
      ...(arriving === null ? [] : [firstOrderCommand(q, r, this.#start({ value: arriving }, quads * 8), bf16, quads, first, this.#sums)]),
    ];
  }

  #start(binding: Binding, size: number): BufferSlice {
    return part(this.#buffers.get(this.#reference, 'resource' in binding ? binding.resource : binding.value), 0, size);
  }

  get #sums(): BufferSlice {
    return whole(this.#buffers.shared('sums'));
  }
}
