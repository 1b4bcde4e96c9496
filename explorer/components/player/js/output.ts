import { assign, buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import { markedWhereMore } from "../../dom/js/moreLines.ts";
import { measured } from "../../dom/js/store.ts";
import { plainText } from "../../trace/js/pieceText.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { decodedPieces } from "../../trace/js/unitChoice.ts";

const SAID = 2000; // ms for which the button says that the text was copied

/**
 * The output as one plain sentence, what is not yet decoded of it faded, and a button that copies it.
 */
export function createOutput(context: TraceContext): Part {
  const { say } = context;
  const decoded = element("span", {});
  const ahead = element("span", { class: "not-decoded" });
  const text = element("bdi", { class: "output-text", testid: "output" }, decoded, ahead);
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
  const room = element("div", { class: "output-room" }, text);
  const markMore = markedWhereMore(name, text, say("output_more"));
  const node = element(
    "section",
    { class: "whole-output", "aria-label": say("output") },
    name,
    room,
    copy,
    said,
  );
  const isOffered = () => context.pieces.predicted.length > 0 || context.pieces.masks.length > 0;
  const hidden = measured(() => text.scrollHeight - text.clientHeight); // px
  /** The style keeps the height that the whole output needs: no step moves what is above it. */
  const reserve = () => {
    node.hidden = !isOffered();
    assign(room, "data-whole", context.pieces.header.text ?? "");
  };
  const draw = () => {
    if (!isOffered()) return;
    const shown = shownText(context);
    const before = decodedText(context);
    const known = shown.startsWith(before) ? before.length : shown.length;
    write(decoded, shown.slice(0, known));
    write(ahead, shown.slice(known));
  };
  const scroll = () => {
    if (!isOffered()) return;
    const shown = shownText(context);
    if (!context.state.ahead) text.scrollTop = hidden();
    assign(text, "title", hidden() > 0 ? shown : null);
  };
  return { element: node, views: [reserve, draw], after: [scroll, markMore] };
}

/**
 * The output up to the current step, without the prompt, or the whole of it where what is ahead is
 * shown; the text with its masks filled in.
 */
function shownText(context: TraceContext) {
  const { text, predicted } = context.pieces.header;
  const { ahead } = context.state;
  if (text && (ahead || decodedPieces(context) >= predicted.length)) return text;
  return ahead ? textTo(context, undefined) : decodedText(context);
}

/** The output up to the current step. */
function decodedText(context: TraceContext) {
  return textTo(context, decodedPieces(context));
}

function textTo({ pieces: { header, prompt } }: TraceContext, end: number | undefined) {
  return plainText(header.predicted.slice(Math.max(prompt - 1, 0), end), header.marked);
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
