import { element } from "../../dom/js/element.ts";
import { fillIn, type Say } from "../../dom/js/sentences.ts";
import { createScreen } from "../../dom/js/store.ts";
import { streamlitComponent, type View } from "../../page/js/streamlitComponent.ts";
import { watchTheme } from "../../page/js/watchers.ts";
import { type Classroom, createClassroom } from "./classroom.ts";
import { createHostBar } from "./hostBar.ts";
import { createTools } from "./tools.ts";

interface ClassData {
  part: "bar" | "tools"; // above the player, or in the share menu
  language: string;
  strings: Record<string, string>;
  address: string; // of the app, as guests reach it
}

/** The class of the page, which both parts of the tools know, each a component of its own. */
let shared: { room: Classroom; uses: number } | null = null;

/** The class tools as a Streamlit component. */
export default streamlitComponent({
  read: (bytes): ClassData => JSON.parse(new TextDecoder().decode(bytes)),
  identity: JSON.stringify,
  listeners: () => ({}),
  open: openTools,
});

function openTools(parent: HTMLElement | ShadowRoot, data: ClassData): View<ClassData, object> {
  shared ??= { room: createClassroom(), uses: 0 };
  shared.uses += 1;
  const { room } = shared;
  const say: Say = (key, facts) => fillIn(data.strings, key, facts);
  const part =
    data.part === "bar" ? createHostBar(room, say) : createTools(room, say, data.address);
  const root = element("div", { class: `player class-${data.part}`, lang: data.language });
  parent.append(root);
  watchTheme(root);
  root.append(part.element);
  const screen = createScreen();
  screen.show({ views: part.views ?? [] });
  screen.flush();
  const destroy = () => {
    screen.stop();
    root.remove();
    if (shared) shared.uses -= 1;
    queueMicrotask(closeUnused); // the page may be drawing it anew
  };
  return { update: () => {}, listen: () => {}, destroy };
}

function closeUnused() {
  if (!shared || shared.uses > 0) return;
  shared.room.close();
  shared = null;
}
