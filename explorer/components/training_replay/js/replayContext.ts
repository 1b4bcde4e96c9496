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

/** What is drawn, beside what the visitor chose of it. */
export interface Given {
  run: RunData;
  palette: Palette;
  plotly: Plotly | null; // once it is loaded
  selected: HeadChoice | null; // cross head of the probe
  size: number; // grows whenever there is more or less space: read by views that measure
}

/** What every part of the training replay reads and can do. */
export interface ReplayContext extends Readonly<Given> {
  root: HTMLElement;
  signal: AbortSignal; // aborted when the replay is destroyed
  state: ReplayState;
  set: Store<ReplayState>["set"];
  screen: Screen;
  touch: Screen["touch"]; // until every part is tracked
  give: Store<Given>["set"];
  loadPlotly: () => Promise<Plotly>;
  say: Say;
  traces: ProbeTraces;
  range: () => [number, number]; // of the step axis
  expected: () => number; // how many moments there are or, during the training, will be
  act: ReplayActions;
  listeners: ReplayListeners;
  chooseHead: (layer: number, head: number) => void;
  /** what was shown of the probe before the page mounted the replay anew */
  lastProbe: () => Partial<TraceState>;
}
