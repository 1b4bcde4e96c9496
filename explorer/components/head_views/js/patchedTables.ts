import { assign, buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import { createExplanation, wordEntry } from "../../dom/js/explanation.ts";
import { shortNumber, signed } from "../../dom/js/numbers.ts";
import { followArrows, markStop } from "../../dom/js/roving.ts";
import { measured } from "../../dom/js/store.ts";
import type { Palette } from "../../page/js/palette.ts";
import type { TraceState } from "../../trace/js/initialState.ts";
import { labelOf } from "../../trace/js/label.ts";
import { currentRow, headName, type TraceOnScreen } from "../../trace/js/stepState.ts";
import type { SiteName, Trace } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { createColourBar, rampOf, type ValueScale } from "./colourBar.ts";
import { type NumberCell, numberTable } from "./numberTable.ts";
import type { ViewFrame } from "./viewFrame.ts";
import type { Patched, PatchedTable } from "./viewPayload.ts";

/** A head, or a position of a stack; its layer is an index of the trace. */
type Place = { site: SiteName; layer: number } & ({ head: number } | { position: number });

/** name: of a head or a position. place: that can be shown. */
type PatchedCell = NumberCell & { value: number; written: string; name: string; place?: Place };

/**
 * What values of the first text restore in the run of the second: a table for each attention, or
 * for each stack. A click shows the head, or the row of the position.
 * @param context of the first text
 * @param show what is selected then
 * @param save the menu that saves them
 */
export function createPatchedTables(
  context: TraceContext,
  frame: ViewFrame,
  show: (patch: Partial<TraceState>) => void,
  save: HTMLElement,
): Part {
  const about = element("p", { class: "about", testid: "patched-about" });
  const chosenShare = element("p", { class: "verdict", testid: "brings-back", role: "status" });
  const bar = createColourBar();
  const tables = element("div", { class: "matrices" });
  const node = element(
    "section",
    { class: "patched", testid: "patched", "aria-label": frame.say("patched") },
    element("div", { class: "tools row wrap" }, about, explained(frame).element, bar.element, save),
    chosenShare,
    tables,
  );
  const buttons = () => [...tables.querySelectorAll<HTMLElement>("button")];
  followArrows(tables, buttons);
  const choose = (place: Place) => show(selectionOf(place, context));
  const made = measured(() => tables.firstElementChild);
  const byName = new Map<string, PatchedCell>();
  const draw = () => {
    const { patched } = frame.payload.header;
    node.hidden = !patched;
    if (!patched) return;
    write(about, frame.say(...sentenceOf(patched, context.trace)));
    const scale = scaleOf(frame.palette, patched);
    bar.draw(scale);
    byName.clear();
    tables.replaceChildren(
      ...patched.tables.map((table) => {
        const { columns, cells } = layOut(table, frame, context);
        for (const cell of cells) if (cell.place) byName.set(nameOf(cell.place), cell);
        return numberTable(scale, {
          testid: `patched-${table.site}`,
          caption: frame.sayOfPlayer(`site_${table.site}`),
          columns,
          cells: cells.map((cell) => withButton(cell, choose)),
        });
      }),
    );
  };
  const mark = () => {
    if (!made()) return;
    const names = shownPlaces(context).map(nameOf);
    const all = buttons();
    const chosen = all.find(({ dataset }) => names.includes(dataset.name ?? ""));
    for (const one of all) assign(one, "aria-pressed", String(one === chosen));
    markStop(all, chosen);
    const cell = byName.get(chosen?.dataset.name ?? "");
    write(chosenShare, cell ? frame.say(...bringsBack(cell)) : "");
  };
  return { element: node, views: [draw], after: [mark] };
}

/** What a click on a place selects. An encoder has no current row: the row is marked as hovered. */
export function selectionOf(place: Place, { trace, state }: TraceOnScreen): Partial<TraceState> {
  if ("head" in place) return place;
  const { site: stack, layer, position } = place;
  const site = stack === "decoder" && state.site === "cross" ? "cross" : stack; // both have its rows
  const head = Math.min(state.head, (trace.sites[site]?.heads ?? 1) - 1);
  if (site !== "encoder") return { site, layer, head, step: position + 1 };
  return { site, layer, head, hover: { query: position, key: null, layer, head, x: 0, y: 0 } };
}

/** The places whose head or row is on screen. */
export function shownPlaces(context: TraceOnScreen): Place[] {
  const { site, layer, head, hover } = context.state;
  const stack = site === "cross" ? "decoder" : site;
  const marked = hover?.key === null ? hover.query : null;
  const position = site === "encoder" ? marked : currentRow(context);
  return [{ site, layer, head }, ...(position === null ? [] : [{ site: stack, layer, position }])];
}

function nameOf(place: Place) {
  const { site, layer } = place;
  return [site, layer, "head" in place ? place.head : `position ${place.position}`].join("/");
}

/** A cell, with a button where its place can be shown. */
function withButton(cell: PatchedCell, choose: (place: Place) => void): NumberCell {
  const { place, title, written } = cell;
  if (!place) return cell;
  const names = { "data-name": nameOf(place), "aria-label": title };
  return { ...cell, written: buttonElement(() => choose(place), names, written) };
}

/** The sentence that says what one head or position does alone. */
export function bringsBack({
  name,
  value,
  place,
}: Pick<PatchedCell, "name" | "value" | "place">): [string, Record<string, string>] {
  const kind = place && "position" in place ? "position" : "head";
  const share = Math.round(100 * value);
  const key = share < 0 ? "widens" : "brings_back";
  return [`${key}_${kind}`, { name, share: `${Math.abs(share)}\u00a0%` }];
}

function explained({ say, sayOfPlayer }: ViewFrame) {
  const labels = { label: say("restored_words"), close: sayOfPlayer("words_close") };
  return createExplanation("patched-help", labels, () => [wordEntry("restored", say, sayOfPlayer)]);
}

/** The sentence that says in plain words where both texts part, and what the metric is in each. */
export function sentenceOf(
  { prefix, step, predicted, metrics }: Omit<Patched, "tables">,
  { masks, predicted: decoded }: Pick<Trace, "masks" | "predicted">,
): [string, Record<string, string | number>] {
  const [one, other] = predicted.map((token) => labelOf(String(token)));
  const [clean, corrupted] = metrics.map(shortNumber);
  const facts = { step, prefix: prefix ?? "", one, other, clean, corrupted };
  if (masks.length) return ["patched_mask", facts];
  if (decoded.length === 0) return ["patched_class", facts];
  return [prefix === null ? "patched_first" : "patched_after", facts];
}

/** Colours around 0, to the largest share. */
export function scaleOf(palette: Palette, { tables }: Patched): ValueScale {
  const shares = tables.flatMap(({ cells }) => cells.map(([, , share]) => Math.abs(share)));
  return { signed: true, most: Math.max(...shares) || 1, ramp: rampOf(palette, true) };
}

/** A share with its sign and without a leading zero. */
function printed(share: number) {
  return signed(share)
    .replace(/^([+−])0/, "$1")
    .replace(/^0\.00$/, "0");
}

/** The names of the columns, where they are positions, and the cells of a table. */
export function layOut(
  { site, tokens, cells }: PatchedTable,
  { say }: Pick<ViewFrame, "say">,
  { trace }: Pick<TraceContext, "trace">,
) {
  const columns = tokens.map(([a, b]) =>
    a === b ? labelOf(a) : say("pair_tokens", { a: labelOf(a), b: labelOf(b) }),
  );
  const numberOf = ([layer, column, share, metric]: PatchedTable["cells"][number]): PatchedCell => {
    const token = columns[column];
    const name =
      token === undefined
        ? headName(layer, column)
        : say("restored_position", { layer, position: column, token });
    const facts = { name, value: signed(share, 3), metric: shortNumber(metric) };
    const title = say("restored_cell", facts);
    const cell = { layer, value: share, written: printed(share), title, name };
    const index = trace.sites[site]?.numbers.indexOf(layer) ?? -1;
    if (index < 0) return cell;
    const [place, click] =
      token === undefined
        ? [{ site, layer: index, head: column }, "restored_show"]
        : [{ site, layer: index, position: column }, "restored_row"];
    return { ...cell, title: `${title} · ${say(click)}`, place };
  };
  return { columns: tokens.length ? columns : undefined, cells: cells.map(numberOf) };
}
