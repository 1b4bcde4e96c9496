import { element } from "../../dom/js/element.ts";
import { fillIn, type Say } from "../../dom/js/sentences.ts";
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

/** What Streamlit calls the component with. */
interface Call {
  parentElement: HTMLElement | ShadowRoot;
  data: ClassData;
}

export interface Mounted {
  key: string;
  destroy: () => void;
}

type Shared = { room: Classroom; uses: number }; // the class of the page

const mounted: WeakMap<object, Mounted> = new WeakMap();

/** The class tools as a Streamlit component. */
export default function ({ parentElement: parent, data }: Call) {
  const key = JSON.stringify(data);
  const known = mounted.get(parent);
  const shared = sharedClassroom();
  if (known?.key !== key) {
    const next = open(parent, data, shared);
    known?.destroy();
    mounted.set(parent, { key, destroy: next });
  }
  return () => {
    mounted.get(parent)?.destroy();
    mounted.delete(parent);
  };
}

/** Both parts of the tools are components of their own and know the same class. */
function sharedClassroom(): Shared {
  const page = window as Window & { explorerClass?: Shared };
  page.explorerClass ??= { room: createClassroom(), uses: 0 };
  return page.explorerClass;
}

function open(parent: HTMLElement | ShadowRoot, data: ClassData, shared: Shared) {
  const { room } = shared;
  const say: Say = (key, facts) => fillIn(data.strings, key, facts);
  const part =
    data.part === "bar" ? createHostBar(room, say) : createTools(room, say, data.address);
  const root = element("div", { class: `player class-${data.part}`, lang: data.language });
  parent.append(root);
  watchTheme(root, () => {});
  root.append(part.element);
  const leave = room.show(part.views ?? []);
  shared.uses += 1;
  return () => {
    leave();
    root.remove();
    shared.uses -= 1;
    queueMicrotask(() => closeUnused(shared)); // the page may be drawing it anew
  };
}

function closeUnused(shared: Shared) {
  const page = window as Window & { explorerClass?: Shared };
  if (shared.uses > 0 || page.explorerClass !== shared) return;
  shared.room.close();
  page.explorerClass = undefined;
}
