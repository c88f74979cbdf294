/** What a text means as a seed. */

/** Seeds are unsigned 32-bit numbers (random rounding). */
const MOST = 0xffffffff;

/** The seed that a text names, or null. */
export function seedOf(text: string): number | null {
  const digits = text.trim();
  return /^\d+$/.test(digits) && Number(digits) <= MOST ? Number(digits) : null;
}
