/** The sites that a plan of a recipe decides over, made once a model. */
import { costedSites, type CostedSite } from '../allocate/cost';
import type { RecipeName } from '../graph/policy';
import type { Graph } from '../graph/types';
import { memo } from './memo';

/** In site order, each with its cost (HP GEMM work, or activation cache). */
export const sitesOf: (graph: Graph, recipe: RecipeName) => readonly CostedSite[] = memo((graph: Graph, recipe: RecipeName) => costedSites(graph, recipe), 16);
