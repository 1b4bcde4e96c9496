import { pharaohText } from "../../shared/js/alignment.js";
import { csvCell } from "../../shared/js/csv.js";
import { context2d, element } from "../../shared/js/element.js";
import { rowOf, shownKeys, shownRows, siteOf } from "../../shared/js/stepState.js";
import { MEAN } from "../../shared/js/trace.js";
import { exportFigure } from "./figure.js";

/** @import { Part } from "../../shared/js/element.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */

const SHARPNESS = 3; // pixels of a PNG to one px: 300 dpi where it is printed 16 cm wide

/**
 * The buttons PNG, SVG, CSV and Pharaoh.
 * @param {TraceContext} context
 * @returns {Part[]}
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
  return [
    button("png", () => downloadFigure(context, "png")),
    button("svg", () => downloadFigure(context, "svg")),
    button("csv", () => downloadTable(context)),
    button("pharaoh", () => downloadLinks(context), aligned),
  ];
}

/**
 * Save a file.
 * @param {string} name
 * @param {Blob} contents
 */
function download(name, contents) {
  const url = URL.createObjectURL(contents);
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/**
 * A text as the contents of a file.
 * @param {string} text
 * @param {string} type
 */
function textFile(text, type) {
  return new Blob([text], { type: `${type};charset=utf-8` });
}

/**
 * A file name that tells what is shown.
 * @param {TraceContext} context
 * @param {string} ending
 */
function fileName({ state, trace }, ending) {
  const step = state.site === "encoder" ? "" : `-step${state.step}`;
  const head = state.head === MEAN ? "mean" : `H${state.head}`;
  const unit = trace.rows ? "-words" : "";
  return `attention-${state.site}-L${state.layer}-${head}${unit}${step}${ending}`;
}

/**
 * The map as PNG or SVG, drawn apart from the one on screen.
 * @param {TraceContext} context
 * @param {"png" | "svg"} format
 */
async function downloadFigure(context, format) {
  const { drawing, width, height } = exportFigure(context);
  const source = textFile(new XMLSerializer().serializeToString(drawing), "image/svg+xml");
  const contents = format === "svg" ? source : await bitmapOf(source, width, height);
  download(fileName(context, `.${format}`), contents);
}

/**
 * A drawing as PNG.
 * @param {Blob} source
 * @param {number} width px
 * @param {number} height px
 */
async function bitmapOf(source, width, height) {
  const picture = new Image();
  picture.src = URL.createObjectURL(source);
  await picture.decode();
  const canvas = element("canvas", { width: width * SHARPNESS, height: height * SHARPNESS });
  context2d(canvas).drawImage(picture, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(picture.src);
  const png = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  return /** @type {Blob} */ (png);
}

/**
 * The shown matrix as CSV: keys across, queries down, without rows not yet decoded.
 * @param {TraceContext} context
 */
function downloadTable(context) {
  download(fileName(context, ".csv"), textFile(`\ufeff${tableText(context)}`, "text/csv"));
}

/**
 * The links on the map as one line in Pharaoh format.
 * @param {TraceContext} context
 */
function downloadLinks(context) {
  const ending = `-${context.state.alignment}.pharaoh`;
  download(fileName(context, ending), textFile(`${pharaohText(context)}\n`, "text/plain"));
}

/**
 * The lines of the CSV file; a masked cell is empty, an unmasked zero is a number.
 * @param {TraceContext} context
 */
function tableText(context) {
  const { state } = context;
  const site = siteOf(context);
  const [rows, keys] = [shownRows(context), shownKeys(context)];
  const lines = [["", ...site.keyTokens.slice(0, keys).map(csvCell)].join(",")];
  for (let query = 0; query < rows; query += 1) {
    const { weights, masked } = rowOf(site, state.layer, state.head, query);
    const cells = weights
      .slice(0, keys)
      .map((weight, key) => (masked[key] ? "" : weight.toFixed(4)));
    lines.push([csvCell(site.queryTokens[query]), ...cells].join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}
