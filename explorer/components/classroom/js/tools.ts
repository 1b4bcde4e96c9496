import { buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";
import { LONGEST_ADDRESS } from "../../trace/js/look.ts";
import type { Classroom } from "./classroom.ts";
import { fetchCode } from "./stream.ts";

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/**
 * In the share menu: who is present and, for the host, Follow me and the code to scan full screen.
 * @param address of the app, as guests reach it
 */
export function createTools(room: Classroom, say: Say, address: string): Part {
  const present = element("span", { role: "status", testid: "class-present" });
  const box = element("input", {
    type: "checkbox",
    role: "switch",
    testid: "class-lead",
    on: { change: () => room.lead(box.checked) },
  });
  const lead = element("label", { class: "lead" }, box, say("lead"));
  const code = buttonElement(
    () => showCode(say, address + window.location.search, address),
    { testid: "class-code" },
    say("full_screen"),
  );
  const about = element("p", { class: "note" }, say("lead_about"));
  const node = element("div", { class: "class-tools" }, present, lead, about, code);
  const draw = () => {
    const { message, leading } = room.state;
    write(present, message ? say("present", { count: message.present }) : "");
    for (const part of [lead, about, code]) part.hidden = message?.host !== true;
    box.checked = leading && message?.elsewhere !== true;
  };
  return { element: node, views: [draw] };
}

/** Fill the screen with a code that opens what the host sees, and the address to type. */
async function showCode(say: Say, link: string, address: string) {
  const svg = await fetchCode(link.length <= LONGEST_ADDRESS ? link : address); // which is short
  if (!svg) return;
  const source = URL.createObjectURL(svg);
  const picture = element("img", { src: source, alt: link });
  const close = buttonElement(() => dialog.close(), { testid: "class-code-close" }, say("close"));
  const shown = address.replace(/^https?:\/\/|\/$/g, "");
  const text = element("p", {}, say("join"), element("br"), element("strong", {}, shown));
  if (LOOPBACK.includes(new URL(address).hostname)) text.replaceChildren(say("code_here"));
  const dialog = element("dialog", { "data-testid": "class-code-screen" }, picture, text, close);
  dialog.style.cssText =
    "box-sizing:border-box;width:100vw;height:100vh;max-width:none;max-height:none;margin:0;" +
    "border:0;padding:2vmin;display:flex;flex-flow:column;align-items:center;" +
    "justify-content:center;gap:2vmin;background:#fff;color:#10161f;text-align:center;" +
    "font:clamp(20px,4vmin,44px)/1.25 system-ui,sans-serif;";
  picture.style.cssText = "flex:1 1 0;min-height:0;width:96vmin;object-fit:contain;";
  text.style.cssText = "margin:0;font:inherit;";
  close.style.cssText = "font-size:16px;padding:8px 16px;color:inherit;background:#fff;";
  dialog.addEventListener("close", () => {
    open.abort();
    URL.revokeObjectURL(source);
    dialog.remove();
    if (document.fullscreenElement) document.exitFullscreen();
  });
  dialog.addEventListener("click", () => dialog.close());
  const open = new AbortController();
  const onKey = (event: KeyboardEvent) => {
    event.stopPropagation(); // the player below has keys, too
    if (event.key === "Escape") dialog.close();
  };
  // The open menu takes Escape for itself, before it reaches the dialog.
  window.addEventListener("keydown", onKey, { capture: true, signal: open.signal });
  dialog.addEventListener("fullscreenchange", () => {
    if (!document.fullscreenElement) dialog.close(); // Escape ends the full screen, and no more
  });
  document.body.append(dialog);
  dialog.showModal();
  dialog.requestFullscreen?.().catch(() => {}); // a browser may refuse; the window is filled anyway
}
