/**
 * The command line's entry: picks the command, runs it, turns what it throws into a named line on stderr and an exit
 * code. The engine is the page's own; only adapter, files and progress differ.
 */
import { toPlainError } from '../base/errors';
import { APP_VERSION } from '../base/version';
import { allocate, ALLOCATE } from './allocate';
import { commandHelp, generalHelp, parseFlags, unknownCommand, USAGE_ERROR, type CommandSpec, type Flags } from './command-line';
import { compare, COMPARE } from './compare';
import { ADAPTERS, Devices } from './devices';
import { EXPORT, exportPlan } from './export';
import { gradient, GRADIENT } from './gradient';
import { HOW_MUCH, howMuch } from './how-much';
import { probe, PROBE } from './probe';
import { quantize, QUANTIZE } from './quantize';
import { sayError } from './say';
import { verify, VERIFY } from './verify';

interface Command {
  readonly spec: CommandSpec;
  run(flags: Flags, devices: Devices): Promise<void>;
}

const COMMANDS: readonly Command[] = [
  { spec: GRADIENT, run: gradient },
  { spec: PROBE, run: probe },
  { spec: ALLOCATE, run: allocate },
  { spec: HOW_MUCH, run: howMuch },
  { spec: VERIFY, run: verify },
  { spec: COMPARE, run: compare },
  { spec: EXPORT, run: exportPlan },
  { spec: QUANTIZE, run: quantize },
];
const SPECS = COMMANDS.map(({ spec }) => spec);

const asksForHelp = (argument: string | undefined): boolean => argument === '--help' || argument === '-h';

/**
 * Arguments after the program's name -> exit code: 0 done, 1 a named error, 2 wrong usage. Never throws. Pass `devices`
 * to keep a device open for the next call; they are then the caller's to dispose of.
 */
export async function main(argv: readonly string[], devices?: Devices): Promise<number> {
  const own = devices ?? new Devices();
  try {
    const [name, ...rest] = argv;
    if (asksForHelp(name)) {
      process.stdout.write(generalHelp(SPECS, APP_VERSION));
      return 0;
    }
    if (name === '--version') {
      process.stdout.write(`${APP_VERSION}\n`);
      return 0;
    }
    const command = COMMANDS.find(({ spec }) => spec.name === name);
    if (!command) throw unknownCommand(name, SPECS);
    if (rest.some(asksForHelp)) {
      process.stdout.write(commandHelp(command.spec));
      return 0;
    }
    const flags = parseFlags(command.spec, rest);
    flags.oneOf('adapter', ADAPTERS);
    await command.run(flags, own);
    return 0;
  } catch (thrown) {
    const error = toPlainError(thrown);
    // Only faults of our own have no E- name; their stack is what a report needs.
    const foreign = !/^E-(?!BUG)/.test(error.name);
    sayError(foreign ? { name: error.name.startsWith('E-BUG') ? error.name : 'E-BUG-00', message: thrown instanceof Error ? (thrown.stack ?? error.message) : error.message, hint: 'This is a fault of Bendscope; please report it.' } : error);
    return error.name === USAGE_ERROR ? 2 : 1;
  } finally {
    if (!devices) own.dispose();
  }
}
