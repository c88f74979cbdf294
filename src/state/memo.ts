/** A function of immutable inputs that remembers its last few calls, because a drag asks many times a second. */
export function memo<A extends readonly unknown[], R>(run: (...inputs: A) => R, keep = 8): (...inputs: A) => R {
  const known: { inputs: A; result: R }[] = [];
  return (...inputs) => {
    for (const { inputs: before, result } of known) {
      let i = 0;
      while (i < inputs.length && Object.is(before[i], inputs[i])) i++;
      if (i === inputs.length) return result;
    }
    const result = run(...inputs);
    known.unshift({ inputs, result });
    known.length = Math.min(known.length, keep);
    return result;
  };
}
