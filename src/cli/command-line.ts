/**
 * Arguments to values, and the help texts, both from one table a command. Nothing is guessed: an unknown, repeated or
 * value-less flag is wrong usage (E-CLI-01, exit code 2). Own parser, because node:util's says neither which command nor
 * what to do.
 */
import { BendscopeError } from '../base/errors';

export const USAGE_ERROR = 'E-CLI-01';

export interface Flag {
  /** Without the dashes. */
  readonly name: string;
  /** How the value is written in help; null for a switch. */
  readonly value: string | null;
  readonly required?: boolean;
  readonly repeatable?: boolean;
  readonly help: string;
}

export interface CommandSpec {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly Flag[];
  /** Below the flags in help. */
  readonly details: readonly string[];
}

const INVOCATION = 'npm run --silent cli --';

function wrong(message: string, command?: string): BendscopeError {
  return new BendscopeError(USAGE_ERROR, message, `See ${INVOCATION} ${command === undefined ? '' : `${command} `}--help`);
}

/** Flags as given, each looked up by name. */
export class Flags {
  #command: string;
  #values: ReadonlyMap<string, readonly string[]>;

  constructor(command: string, values: ReadonlyMap<string, readonly string[]>) {
    this.#command = command;
    this.#values = values;
  }

  /** A required flag's value. */
  text(name: string): string {
    const value = this.optional(name);
    if (value === undefined) throw wrong(`${this.#command}: expected --${name}, got none`, this.#command);
    return value;
  }
  optional(name: string): string | undefined {
    return this.all(name)[0];
  }
  all(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }
  given(name: string): boolean {
    return this.#values.has(name);
  }
  /** One of a few words; the first is the default. Throws E-CLI-01. */
  oneOf<T extends string>(name: string, choices: readonly [T, ...T[]]): T {
    const value = this.optional(name) ?? choices[0];
    const choice = choices.find((known) => known === value);
    if (choice === undefined) throw this.wrong(name, choices.join(', '), `"${value}"`);
    return choice;
  }
  /** `count` whole numbers by commas, each an unsigned 32-bit integer; null without the flag. Throws E-CLI-01. */
  integers(name: string, count: number): readonly number[] | null {
    const value = this.optional(name);
    if (value === undefined) return null;
    const numbers = value.split(',').map((part) => (/^\d+$/.test(part.trim()) ? Number(part) : NaN));
    if (numbers.length !== count || !numbers.every((n) => n >>> 0 === n)) throw this.wrong(name, `${count} whole numbers from 0 to 4294967295 by commas`, `"${value}"`);
    return numbers;
  }
  /** A decimal number from 0 to `most`; null without the flag. Throws E-CLI-01. */
  number(name: string, most: number): number | null {
    const value = this.optional(name);
    if (value === undefined) return null;
    const number = /^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) ? Number(value) : NaN;
    if (!(number <= most)) throw this.wrong(name, `a number from 0 to ${most}`, `"${value}"`);
    return number;
  }
  /** The error of a flag that has a value but cannot be taken so. */
  wrong(name: string, expected: string, got: string): BendscopeError {
    return wrong(`--${name}: expected ${expected}, got ${got}`, this.#command);
  }
}

/** Arguments after the command's name -> Flags. Throws E-CLI-01 for anything the command does not have. */
export function parseFlags(spec: CommandSpec, argv: readonly string[]): Flags {
  const values = new Map<string, string[]>();
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i] ?? '';
    const equals = argument.indexOf('=');
    const name = argument.slice(2, equals < 0 ? undefined : equals);
    const flag = argument.startsWith('--') ? spec.flags.find((known) => known.name === name) : undefined;
    if (!flag) throw wrong(`${spec.name}: expected a flag of this command, got "${argument}"`, spec.name);
    if (flag.value === null && equals >= 0) throw wrong(`--${name}: expected no value, got "${argument}"`, spec.name);
    let value = equals < 0 ? '' : argument.slice(equals + 1);
    if (flag.value !== null && equals < 0) {
      i += 1;
      value = argv[i] ?? '';
    }
    if (flag.value !== null && (value === '' || (equals < 0 && value.startsWith('--')))) throw wrong(`--${name}: expected a value (${flag.value}), got ${value === '' ? 'none' : `"${value}"`}`, spec.name);
    const earlier = values.get(name);
    if (earlier && !flag.repeatable) throw wrong(`--${name}: expected once, got it twice`, spec.name);
    values.set(name, [...(earlier ?? []), value]);
  }
  for (const { name, required } of spec.flags) if (required && !values.has(name)) throw wrong(`${spec.name}: expected --${name}, got none`, spec.name);
  return new Flags(spec.name, values);
}

export function unknownCommand(name: string | undefined, commands: readonly CommandSpec[]): BendscopeError {
  return wrong(`expected a command (${commands.map((command) => command.name).join(', ')}), got ${name === undefined ? 'none' : `"${name}"`}`);
}

const written = ({ name, value }: Flag): string => `--${name}${value === null ? '' : ` ${value}`}`;

export function commandHelp(spec: CommandSpec): string {
  const usage = spec.flags.map((flag) => `${flag.required ? written(flag) : `[${written(flag)}]`}${flag.repeatable ? '...' : ''}`);
  const width = Math.max(...spec.flags.map((flag) => written(flag).length)) + 2;
  return [
    `${spec.name}: ${spec.summary}`,
    '',
    `  ${INVOCATION} ${spec.name} ${usage.join(' ')}`,
    '',
    ...spec.flags.map((flag) => `  ${written(flag).padEnd(width)}${flag.help}`),
    '',
    ...spec.details,
    '',
  ].join('\n');
}

export function generalHelp(commands: readonly CommandSpec[], version: string): string {
  const width = Math.max(...commands.map(({ name }) => name.length)) + 2;
  return [
    `bendscope ${version}: by how many degrees low precision bends the gradient of a whole model`,
    '',
    `  ${INVOCATION} <command> [flags]`,
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`),
    '',
    `  ${INVOCATION} <command> --help   flags of one command`,
    `  ${INVOCATION} --version`,
    '',
    'Results go to the file named by --out, which is written whole or not at all. Progress and errors go to stderr, an',
    'error as "E-XXX-NN: what happened" and a line that says what to do. Exit code: 0 done, 1 a named error, 2 wrong usage.',
    '',
  ].join('\n');
}
