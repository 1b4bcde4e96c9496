import { csvTable } from "../../dom/js/csv.ts";
import { buttonElement, element, type Part } from "../../dom/js/element.ts";
import { saveFile, textFile } from "../../dom/js/savedFile.ts";
import { saveMenu } from "../../dom/js/saveMenu.ts";
import { tableButton } from "../../dom/js/tableButton.ts";
import { figureButtons } from "../../figure/js/figureButtons.ts";
import { pharaohText } from "../../map/js/alignment.ts";
import { visibleRows } from "../../trace/js/guess.ts";
import { MEAN } from "../../trace/js/look.ts";
import {
  layerNumber,
  rowOf,
  shownHead,
  shownKeys,
  shownMethod,
  showsPredicting,
  siteOf,
} from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { isAnswer } from "../../trace/js/traceQuestions.ts";
import type { Attribution } from "./attribution.ts";
import { exportFigure } from "./figure.ts";
import { type FindAttribution, showsHeadParts } from "./headParts.ts";
import { headPartsFigure, headPartsTable } from "./headPartsFigure.ts";
import { hasNext, nextFigure } from "./nextFigure.ts";

/** The menu with the figure, CSV and Pharaoh. */
export function createDownloads(context: TraceContext, attribution: FindAttribution): Part {
  const aligned = () => context.state.site === "cross" && context.state.alignment !== "off";
  const found: <Saved>(make: (parts: Attribution) => Saved) => Saved | null = (make) => {
    const parts = attribution("");
    return isAnswer(parts) ? make(parts) : null;
  };
  const figures = figureButtons(context.say, {
    figure: (width) => exportFigure(context, width),
    fileName: () => fileName(context),
  });
  const next = figureButtons(context.say, {
    figure: (width) =>
      showsHeadParts(context)
        ? found((parts) => headPartsFigure(context, parts, width))
        : nextFigure(context, width),
    fileName: () => nextName(context),
    prefix: "next-",
  });
  const parts = tableButton(context.say, {
    table: () => found((parts) => headPartsTable(context, parts)),
    fileName: () => nextName(context),
    prefix: "next-",
    title: context.say("parts_csv_title"),
  });
  const bars = element(
    "span",
    { class: "save-group", testid: "save-next" },
    element("span", { class: "save-of" }, context.say("save_next")),
    ...next,
    parts,
  );
  const table = tableButton(context.say, {
    table: () => tableText(context),
    fileName: () => fileName(context),
  });
  const links = buttonElement(
    () => downloadLinks(context),
    { class: "quiet save", testid: "pharaoh", title: context.say("pharaoh_title") },
    context.say("pharaoh"),
  );
  const buttons = [...figures, table, links, bars];
  const draw = () => {
    links.hidden = !aligned();
    bars.hidden = !hasNext(context);
    parts.hidden = !showsHeadParts(context);
  };
  return { element: saveMenu(context.say, context.signal, buttons), views: [draw] };
}

/** A file name that tells what is shown, without its ending. */
function fileName(context: TraceContext) {
  const { state, trace } = context;
  const step = state.site === "encoder" ? "" : `-step${state.step}`; // all rows of an encoder
  const head = state.head === MEAN ? "mean" : `H${state.head}`;
  const rows = showsPredicting(context) ? "-predicting" : "";
  const unit = trace.rows ? `-words${rows}` : "";
  const method = shownMethod(context);
  if (method === "leave_one_out") return `${method}${unit}${step}`; // of the whole model
  if (method) return `${method}-${state.site}-L${layerNumber(context, state.layer)}${unit}${step}`;
  return `attention-${state.site}-L${layerNumber(context, state.layer)}-${head}${unit}${step}`;
}

/** The same of what stands beside the map. */
function nextName(context: TraceContext) {
  return `${showsHeadParts(context) ? "head-parts" : "next-token"}-step${context.state.step}`;
}

/** The links on the map as one line in Pharaoh format. */
function downloadLinks(context: TraceContext) {
  const name = `${fileName(context)}-${context.state.alignment}.pharaoh`;
  saveFile(name, textFile(`${pharaohText(context)}\n`, "text/plain"));
}

/**
 * The shown matrix as CSV: keys across, queries down, without rows not yet decoded; a masked cell is
 * empty, an unmasked zero is a number.
 */
function tableText(context: TraceContext) {
  const { state } = context;
  const site = siteOf(context);
  const [rows, keys] = [visibleRows(context), shownKeys(context)];
  const lines = [["", ...site.keyTokens.slice(0, keys)]];
  for (let query = 0; query < rows; query += 1) {
    const { weights, masked } = rowOf(site, state.layer, shownHead(state), query);
    const cells = weights
      .slice(0, keys)
      .map((weight, key) => (masked[key] ? "" : weight.toFixed(4)));
    lines.push([site.queryTokens[query], ...cells]);
  }
  return csvTable(lines);
}
