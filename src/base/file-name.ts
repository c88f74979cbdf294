/**
 * A part of a file name made of any name: lower-case letters, digits, and `separator` for every run of other characters;
 * `fallback` where nothing of the name is left.
 */
export function fileStem(name: string, fallback: string, separator = '-'): string {
  return name.toLowerCase().split(/[^a-z0-9]+/).filter((part) => part !== '').join(separator) || fallback;
}
