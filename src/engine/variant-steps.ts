/**
 * Which steps of a program a change can reach (engine.md 6.1): those that differ from the base program's step in the same
 * slot, and those that read what such a step wrote. Everything else is the base run's, bit for bit.
 */
import type { Program, Step, ValueKey } from './program';

export interface VariantSteps {
  readonly steps: readonly Step[];
  /** Values the steps write: the others are read from the reference set. */
  readonly dirty: ReadonlySet<ValueKey>;
}

/** full: every step, as if nothing were known of the base run. */
export function variantSteps(program: Program, base: Program, full: boolean): VariantSteps {
  const known = new Map(base.steps.map((step) => [step.slot, step.variant]));
  const dirty = new Set<ValueKey>();
  const steps = program.steps.filter((step) => {
    const reached = full || known.get(step.slot) !== step.variant || step.reads.some((key) => dirty.has(key));
    if (reached) for (const key of step.writes) dirty.add(key);
    return reached;
  });
  return { steps, dirty };
}
