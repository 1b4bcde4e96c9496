import type { Plotly } from "../../dom/js/plotly.ts";
import type { Say } from "../../dom/js/sentences.ts";
import type { Screen, Store } from "../../dom/js/store.ts";
import type { Palette } from "../../page/js/palette.ts";
import type { Move } from "../../trace/js/actions.ts";
import type { TraceState } from "../../trace/js/initialState.ts";
import type { SiteName } from "../../trace/js/trace.ts";
import type { ProbeTraces } from "./probeTraces.ts";
import type { RunData } from "./runData.ts";

export interface ReplayState {
  at: number; // index of the selected moment; −1 without moments
  following: boolean; // whether each new moment is selected
  headChosen: boolean; // whether the visitor chose a head of this run
  playing: boolean;
  hinted: boolean;
  projector: boolean;
}

export type HeadChoice = { layer: number; head: number };

export type ReplayActions = Record<Move | "pause" | "follow", () => void> & {
  goTo: (index: number) => void;
};

export interface ReplayListeners {
  /**
   * called when the visitor follows the link of the run; a plain link
   * would load the page anew, as a new visitor
   */
  onLink: () => void;
  /**
   * called when the visitor asks how the weight of a cell of the probe
   * is computed; `text` is the input
   */
  onCell: (cell: {
    site: SiteName;
    layer: number;
    head: number;
    query: number;
    key: number;
    text: string;
  }) => void;
}

/** What every part of the training replay reads and can do. */
export interface ReplayContext {
  root: HTMLElement;
  signal: AbortSignal; // aborted when the replay is destroyed
  run: RunData;
  state: ReplayState;
  set: Store<ReplayState>["set"];
  screen: Screen;
  touch: Screen["touch"]; // until every part is tracked
  palette: Palette;
  loadPlotly: () => Promise<Plotly>;
  plotly: Plotly | null; // once it is loaded
  say: Say;
  traces: ProbeTraces;
  range: () => [number, number]; // of the step axis
  expected: () => number; // how many moments there are or, during the training, will be
  act: ReplayActions;
  listeners: ReplayListeners;
  chooseHead: (layer: number, head: number) => void;
  selected: HeadChoice | null; // cross head of the probe
  /** what was shown of the probe before the page mounted the replay anew */
  lastProbe: () => Partial<TraceState>;
}
