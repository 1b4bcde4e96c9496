import { pharaohText } from "../../shared/js/alignment.js";
import { csvCell } from "../../shared/js/csv.js";
import { element } from "../../shared/js/element.js";
import { figureButtons } from "../../shared/js/figureButtons.js";
import { visibleRows } from "../../shared/js/guess.js";
import { saveFile, saveTable, textFile } from "../../shared/js/savedFile.js";
import { saveMenu } from "../../shared/js/saveMenu.js";
import {
  layerNumber,
  rowOf,
  shownHead,
  shownKeys,
  shownMethod,
  siteOf,
} from "../../shared/js/stepState.js";
import { MEAN } from "../../shared/js/trace.js";
import { exportFigure } from "./figure.js";
import { hasNext, nextFigure } from "./nextFigure.js";

/** @import { Part } from "../../shared/js/element.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */

/**
 * The menu with the figure, CSV and Pharaoh.
 * @param {TraceContext} context
 * @returns {Part}
 */
export function createDownloads(context) {
  /** @type {(name: string, save: () => void, available?: () => boolean) => Part} */
  const button = (name, save, available = () => true) => {
    const node = element(
      "button",
      {
        type: "button",
        class: "quiet save",
        testid: name,
        title: context.say(`${name}_title`),
        on: { click: save },
      },
      context.say(name),
    );
    const update = () => {
      node.hidden = !available();
    };
    return { element: node, update };
  };
  const aligned = () => context.state.site === "cross" && context.state.alignment !== "off";
  const figures = figureButtons(context.say, {
    figure: (width) => exportFigure(context, width),
    fileName: () => fileName(context),
  });
  const next = figureButtons(context.say, {
    figure: (width) => nextFigure(context, width),
    fileName: () => `next-token-step${context.state.step}`,
    prefix: "next-",
  });
  const bars = element(
    "span",
    { class: "save-group", testid: "save-next" },
    element("span", { class: "save-of" }, context.say("save_next")),
    ...next,
  );
  const tables = [
    button("csv", () => downloadTable(context)),
    button("pharaoh", () => downloadLinks(context), aligned),
  ];
  const buttons = [...figures, ...tables.map((table) => table.element), bars];
  /** @param {Set<string>} changed */
  const update = (changed) => {
    for (const table of tables) table.update(changed);
    bars.hidden = !hasNext(context);
  };
  return { element: saveMenu(context.say, context.signal, buttons), update };
}

/**
 * A file name that tells what is shown, without its ending.
 * @param {TraceContext} context
 */
function fileName(context) {
  const { state, trace } = context;
  const step = state.site === "encoder" ? "" : `-step${state.step}`; // all rows of an encoder
  const head = state.head === MEAN ? "mean" : `H${state.head}`;
  const unit = trace.rows ? "-words" : "";
  const method = shownMethod(context);
  if (method) return `${method}-${state.site}-L${layerNumber(context, state.layer)}${unit}${step}`;
  return `attention-${state.site}-L${layerNumber(context, state.layer)}-${head}${unit}${step}`;
}

/**
 * The shown matrix as CSV: keys across, queries down, without rows not yet decoded.
 * @param {TraceContext} context
 */
function downloadTable(context) {
  saveTable(`${fileName(context)}.csv`, tableText(context));
}

/**
 * The links on the map as one line in Pharaoh format.
 * @param {TraceContext} context
 */
function downloadLinks(context) {
  const name = `${fileName(context)}-${context.state.alignment}.pharaoh`;
  saveFile(name, textFile(`${pharaohText(context)}\n`, "text/plain"));
}

/**
 * The lines of the CSV file; a masked cell is empty, an unmasked zero is a number.
 * @param {TraceContext} context
 */
function tableText(context) {
  const { state } = context;
  const site = siteOf(context);
  const [rows, keys] = [visibleRows(context), shownKeys(context)];
  const lines = [["", ...site.keyTokens.slice(0, keys).map(csvCell)].join(",")];
  for (let query = 0; query < rows; query += 1) {
    const { weights, masked } = rowOf(site, state.layer, shownHead(state), query);
    const cells = weights
      .slice(0, keys)
      .map((weight, key) => (masked[key] ? "" : weight.toFixed(4)));
    lines.push([csvCell(site.queryTokens[query]), ...cells].join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}
