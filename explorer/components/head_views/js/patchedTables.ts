import { assign, buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import { createExplanation, wordEntry } from "../../dom/js/explanation.ts";
import { shortNumber, signed } from "../../dom/js/numbers.ts";
import { followArrows, markStop } from "../../dom/js/roving.ts";
import type { Palette } from "../../page/js/palette.ts";
import { labelOf } from "../../trace/js/label.ts";
import { headName } from "../../trace/js/stepState.ts";
import type { SiteName, Trace } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { createColourBar, rampOf, type ValueScale } from "./colourBar.ts";
import { type NumberCell, numberTable } from "./numberTable.ts";
import type { ViewFrame } from "./viewFrame.ts";
import type { Patched, PatchedTable } from "./viewPayload.ts";

/** name: of a head that can be shown. */
type PatchedCell = NumberCell & { value: number; written: string; name?: string };

/**
 * What values of the first text restore in the run of the second: a table for each attention, or
 * for each stack. A click on a head shows it.
 * @param context of the first text
 * @param show the head with an index of its layer in the trace
 * @param save the menu that saves them
 */
export function createPatchedTables(
  context: TraceContext,
  frame: ViewFrame,
  show: (place: { site: SiteName; layer: number; head: number }) => void,
  save: HTMLElement,
): Part {
  const about = element("p", { class: "about", testid: "patched-about" });
  const bar = createColourBar();
  const tables = element("div", { class: "matrices" });
  const node = element(
    "section",
    { class: "patched", testid: "patched", "aria-label": frame.say("patched") },
    element("div", { class: "tools" }, about, explained(frame).element, bar.element, save),
    tables,
  );
  const buttons = () => [...tables.querySelectorAll<HTMLElement>("button")];
  followArrows(tables, buttons);
  const choose = (name: string) => {
    const [site, layer, head] = name.split("/");
    show({ site: site as SiteName, layer: Number(layer), head: Number(head) });
  };
  const draw = () => {
    const { patched } = frame.payload.header;
    node.hidden = !patched;
    if (!patched) return;
    write(about, frame.say(...sentenceOf(patched, context.trace)));
    const scale = scaleOf(frame.palette, patched);
    bar.draw(scale);
    tables.replaceChildren(
      ...patched.tables.map((table) => {
        const { columns, cells } = layOut(table, frame, context);
        return numberTable(scale, {
          testid: `patched-${table.site}`,
          caption: frame.sayOfPlayer(`site_${table.site}`),
          columns,
          cells: cells.map((cell) => (cell.name ? withButton(cell, choose) : cell)),
        });
      }),
    );
  };
  const mark = () => {
    void frame.payload; // whose buttons are new
    const { site, layer, head } = context.state;
    const all = buttons();
    const chosen = all.find(({ dataset }) => dataset.name === `${site}/${layer}/${head}`);
    for (const one of all) assign(one, "aria-pressed", String(one === chosen));
    markStop(all, chosen);
  };
  return { element: node, views: [draw, mark] };
}

/** A cell that can be chosen, by its name. */
function withButton(cell: PatchedCell, choose: (name: string) => void): NumberCell {
  const { name = "", title, written } = cell;
  const names = { "data-name": name, "aria-label": title };
  return { ...cell, written: buttonElement(() => choose(name), names, written) };
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
    const cell = { layer, value: share, written: printed(share), title };
    const index = trace.sites[site]?.numbers.indexOf(layer) ?? -1;
    if (token !== undefined || index < 0) return cell;
    return {
      ...cell,
      title: `${title} · ${say("restored_show")}`,
      name: `${site}/${index}/${column}`,
    };
  };
  return { columns: tokens.length ? columns : undefined, cells: cells.map(numberOf) };
}
