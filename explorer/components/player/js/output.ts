import { assign, buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import { markedWhereMore } from "../../dom/js/moreLines.ts";
import { plainText } from "../../trace/js/pieceText.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { decodedPieces } from "../../trace/js/unitChoice.ts";

const SAID = 2000; // ms for which the button says that the text was copied

/** The output as one plain sentence, as far as it is decoded, and a button that copies it. */
export function createOutput(context: TraceContext): Part {
  const { say } = context;
  const text = element("bdi", { class: "output-text", testid: "output" });
  const said = element("span", { class: "copied", role: "status" });
  const copyShown = async () => {
    await copyText(context.root, text.textContent ?? "");
    for (const part of [copy, said]) write(part, say("copied"));
    setTimeout(() => {
      write(copy, say("copy"));
      write(said, "");
    }, SAID);
  };
  const copy = buttonElement(
    copyShown,
    { class: "quiet", testid: "copy-output", title: say("copy_title") },
    say("copy"),
  );
  const name = element("span", { class: "output-name" }, say("output"));
  const markMore = markedWhereMore(name, text, say("output_more"));
  const node = element(
    "section",
    { class: "whole-output", "aria-label": say("output") },
    name,
    text,
    copy,
    said,
  );
  const isOffered = () => context.pieces.predicted.length > 0 || context.pieces.masks.length > 0;
  const reserve = () => {
    void [context.size, context.state.projector]; // measures
    node.hidden = !isOffered();
    if (!node.hidden) reserveHeight(text, context.pieces.header.text);
  };
  const draw = () => {
    if (isOffered()) write(text, shownText(context));
  };
  const scroll = () => {
    if (!isOffered()) return;
    void [context.size, context.state.projector]; // measures
    const shown = shownText(context);
    if (!context.state.ahead) text.scrollTop = text.scrollHeight;
    markMore();
    assign(text, "title", text.scrollHeight > text.clientHeight ? shown : null);
  };
  return { element: node, views: [reserve, draw], after: [scroll] };
}

/** Keep the height that the whole output needs: no step moves what is above it. */
function reserveHeight(node: HTMLElement, whole: string) {
  const shown = node.textContent ?? "";
  node.style.minHeight = "";
  write(node, whole);
  node.style.minHeight = `${node.clientHeight}px`;
  write(node, shown);
}

/**
 * The output up to the current step, without the prompt, or the whole of it where what is ahead is
 * shown; the text with its masks filled in.
 */
function shownText(context: TraceContext) {
  const { header, prompt } = context.pieces;
  const { text, predicted } = header;
  const { ahead } = context.state;
  const decoded = decodedPieces(context);
  if (text && (ahead || decoded >= predicted.length)) return text;
  const tokens = predicted.slice(Math.max(prompt - 1, 0), ahead ? undefined : decoded);
  return plainText(tokens, header.marked);
}

/**
 * Copy a text. On an address without https, as in a classroom, a browser offers no clipboard; a
 * selected text can be copied there.
 */
async function copyText(root: HTMLElement, text: string) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const focused = (root.getRootNode() as Document | ShadowRoot).activeElement;
    const box = element("textarea", { class: "copied", "aria-hidden": "true" });
    box.value = text;
    root.append(box);
    box.select();
    document.execCommand("copy");
    box.remove();
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }
}
