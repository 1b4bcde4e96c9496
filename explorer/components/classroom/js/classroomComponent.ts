import { element } from "../../dom/js/element.ts";
import { fillIn, type Say } from "../../dom/js/sentences.ts";
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

type Shared = { room: Classroom; uses: number }; // the class of the page

/** The class tools as a Streamlit component. */
export default streamlitComponent({
  read: (bytes): ClassData => JSON.parse(new TextDecoder().decode(bytes)),
  identity: JSON.stringify,
  listeners: () => ({}),
  open: openTools,
});

/** Both parts of the tools are components of their own and know the same class. */
function sharedClassroom(): Shared {
  const page = window as Window & { explorerClass?: Shared };
  page.explorerClass ??= { room: createClassroom(), uses: 0 };
  return page.explorerClass;
}

function openTools(parent: HTMLElement | ShadowRoot, data: ClassData): View<ClassData, object> {
  const shared = sharedClassroom();
  const { room } = shared;
  const say: Say = (key, facts) => fillIn(data.strings, key, facts);
  const part =
    data.part === "bar" ? createHostBar(room, say) : createTools(room, say, data.address);
  const root = element("div", { class: `player class-${data.part}`, lang: data.language });
  parent.append(root);
  watchTheme(root);
  root.append(part.element);
  const leave = room.show(part.views ?? []);
  shared.uses += 1;
  const destroy = () => {
    leave();
    root.remove();
    shared.uses -= 1;
    queueMicrotask(() => closeUnused(shared)); // the page may be drawing it anew
  };
  return { update: () => {}, listen: () => {}, destroy };
}

function closeUnused(shared: Shared) {
  const page = window as Window & { explorerClass?: Shared };
  if (shared.uses > 0 || page.explorerClass !== shared) return;
  shared.room.close();
  page.explorerClass = undefined;
}
