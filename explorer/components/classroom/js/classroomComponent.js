import { element } from "../../shared/js/element.js";
import { fillIn } from "../../shared/js/sentences.js";
import { watchTheme } from "../../shared/js/watchers.js";
import { createClassroom } from "./classroom.js";
import { createHostBar } from "./hostBar.js";
import { createTools } from "./tools.js";

/** @import { Say } from "../../shared/js/sentences.js" */
/** @import { Classroom } from "./classroom.js" */

/**
 * @typedef {object} ClassData
 * @property {"bar" | "tools"} part above the player, or in the share menu
 * @property {string} language
 * @property {Record<string, string>} strings
 * @property {string} address of the app, as guests reach it
 *
 * @typedef {object} Call what Streamlit calls the component with
 * @property {HTMLElement | ShadowRoot} parentElement
 * @property {ClassData} data
 *
 * @typedef {object} Mounted
 * @property {string} key
 * @property {() => void} destroy
 *
 * @typedef {{room: Classroom & {close: () => void}, uses: number}} Shared the class of the page
 */

/** @type {WeakMap<object, Mounted>} */
const mounted = new WeakMap();

/**
 * The class tools as a Streamlit component.
 * @param {Call} call
 */
export default function ({ parentElement: parent, data }) {
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

/**
 * Both parts of the tools are components of their own and know the same class.
 * @returns {Shared}
 */
function sharedClassroom() {
  const page = /** @type {Window & {explorerClass?: Shared}} */ (window);
  page.explorerClass ??= { room: createClassroom(), uses: 0 };
  return page.explorerClass;
}

/**
 * @param {HTMLElement | ShadowRoot} parent
 * @param {ClassData} data
 * @param {Shared} shared
 */
function open(parent, data, shared) {
  const { room } = shared;
  /** @type {Say} */
  const say = (key, facts) => fillIn(data.strings, key, facts);
  const part =
    data.part === "bar" ? createHostBar(room, say) : createTools(room, say, data.address);
  const root = element("div", { class: `player class-${data.part}`, lang: data.language });
  parent.append(root);
  watchTheme(root, () => {});
  root.append(part.element);
  const leave = room.watch(part.update);
  shared.uses += 1;
  return () => {
    leave();
    root.remove();
    shared.uses -= 1;
    queueMicrotask(() => closeUnused(shared)); // the page may be drawing it anew
  };
}

/** @param {Shared} shared */
function closeUnused(shared) {
  const page = /** @type {Window & {explorerClass?: Shared}} */ (window);
  if (shared.uses > 0 || page.explorerClass !== shared) return;
  shared.room.close();
  page.explorerClass = undefined;
}
