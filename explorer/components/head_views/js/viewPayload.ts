import type { Strings } from "../../dom/js/sentences.ts";
import { readEnvelope } from "../../page/js/envelope.ts";
import { readTrace, type SiteName, type Trace } from "../../trace/js/trace.ts";

/** What was measured of a head. */
export interface MeasuredHead {
  layer: number;
  head: number;
  metrics: Record<string, [number | null, number | null, number | null]>; // mean, low, high
  roles: string[]; // keys of groups of roles
  role_caption: string; // in a few words
  role_lines: string[]; // with their scores
}

interface ViewHeader {
  view: "head_grid" | "model_comparison" | "metric_matrix" | "words";
  language: string;
  strings: Strings;
  role_strings: Strings;
  player_strings: Strings;
  heads: Partial<Record<SiteName, MeasuredHead[]>>;
  metrics: string[];
  unmeasured?: boolean; // whether measurements stay elsewhere: nothing is said of them
  sentences?: number; // on which they were measured
  linked_on?: number | null; // sentences of the gold metrics, where those are others
  removed_on?: number; // sentences on which each head was removed
  model?: string; // of which they were measured
  batch?: string; // the name of the sentences
  project?: string; // name and version of the project
  roles: string[];
  role_groups: Partial<Record<SiteName, [string, string][]>>; // keys and names
  words?: string[]; // names of the sentences of the words to explain
  label?: string; // of the button that explains them
  names?: [string, string]; // of two models that are compared
  outputs?: [string[], string[]]; // of the two, each by itself
  pair?: [number, number] | null; // layer and head of the second that is shown first
  /** the heading of the second where it is given the output of the first; "" where it is not */
  given?: string;
  rule?: "matched" | "same"; // by which a head has one of the second beside it at first
  about?: string; // what the caption of a figure says of them besides
  similar?: Partial<Record<SiteName, SimilarHeads>>;
  patched?: Patched | null; // of two texts
}

/** What values of the first text restore in the second. */
export interface Patched {
  prefix: string | null; // of both outputs, after which they part
  step: number; // which predicts where they part, or fills in the mask
  predicted: [string | number, string | number]; // by both, tokens or numbers of classes
  metrics: [number, number]; // of both: the logit of the first prediction minus that of the second
  tables: PatchedTable[];
}

export interface PatchedTable {
  site: SiteName; // or the stack of the residual stream
  tokens: [string, string][]; // of both texts at each position; none where heads were patched
  cells: [number, number, number, number][]; // layer, head or position, share restored, metric
}

/** Heads of two models in one attention. */
interface SimilarHeads {
  order: [number[], number[]]; // heads of each, counted through the layers, like ones together
  matched: [number, number, number, number][]; // layer and head of both
}

export interface ViewPayload {
  header: ViewHeader;
  trace: (name: string) => Trace;
  /** of each head of the first model to each of the second */
  similarity: (site: SiteName) => Float32Array | null;
}

/** Read the payload of a head view. */
export function readViewPayload(bytes: Uint8Array): ViewPayload {
  const { header, array } = readEnvelope<ViewHeader>(bytes);
  return {
    header,
    trace: (name) => readTrace(array(name) as Uint8Array),
    similarity: (site) => array(`similarity.${site}`) as Float32Array | null,
  };
}

/**
 * A trace that is here already as the payload of the grid of all heads, without measurements.
 * @param strings of the head views
 */
export function traceAsPayload(trace: Trace, strings: Strings): ViewPayload {
  const { language, strings: player_strings } = trace.header;
  return {
    header: {
      view: "head_grid",
      language,
      strings,
      role_strings: {},
      player_strings,
      heads: {},
      unmeasured: true,
      metrics: [],
      roles: [],
      role_groups: {},
    },
    trace: () => trace,
    similarity: () => null,
  };
}
