/**
 * EXPORT_TARGETS: everything a plan can be taken home as, one row a target, in the order of the menu. The table of what
 * each can hold is formats.md 6. Menu and command line read it; a new target is a file here and a row.
 */
import { allocation } from './allocation';
import { csv } from './csv';
import type { ExportTarget } from './export-target';
import { megatron } from './megatron';
import { modelExplorer } from './model-explorer';
import { modelopt } from './modelopt';
import { teDebug } from './te-debug';
import { teFactory } from './te-factory';
import { torchaoFloat8 } from './torchao-float8';
import { torchaoFqn } from './torchao-fqn';

export const EXPORT_TARGETS: readonly ExportTarget[] = [allocation, teDebug, teFactory, megatron, torchaoFqn, torchaoFloat8, modelopt, modelExplorer, csv];

export function findTarget(id: string): ExportTarget | undefined {
  return EXPORT_TARGETS.find((target) => target.id === id);
}
