import { sameBytes } from "./envelope.js";

/**
 * @typedef {object} StreamlitArguments what Streamlit calls a component with
 * @property {HTMLElement | ShadowRoot} parentElement
 * @property {Uint8Array} data
 * @property {(name: string, value: unknown) => void} setStateValue
 * @property {(name: string, value: unknown) => void} setTriggerValue
 */

/**
 * @template Content, Listeners
 * @typedef {object} View a mounted component
 * @property {(content: Content) => void} update
 * @property {(listeners: Listeners) => void} listen takes the listeners of the latest call
 * @property {() => void} destroy
 */

/**
 * The default export of a component (st.components.v2). Streamlit calls it at every rerun; the view
 * on the element stays and is updated when the bytes have changed. It is mounted anew only when
 * `identity` differs.
 * @template Content, Listeners
 * @param {object} component
 * @param {(bytes: Uint8Array) => Content} component.read
 * @param {(root: HTMLElement | ShadowRoot, content: Content, listeners: Listeners) => View<Content, Listeners>} component.open
 * @param {(call: StreamlitArguments) => Listeners} component.listeners
 * @param {(content: Content) => string} [component.identity]
 * @returns {(call: StreamlitArguments) => () => void}
 */
export function streamlitComponent({ read, open, listeners, identity = () => "" }) {
  /** @type {WeakMap<object, {bytes: Uint8Array, kind: string, view: View<Content, Listeners>}>} */
  const mounted = new WeakMap();
  return (call) => {
    const { parentElement, data: bytes } = call;
    const known = mounted.get(parentElement);
    known?.view.listen(listeners(call));
    let current = known;
    if (!known || !sameBytes(known.bytes, bytes)) {
      const content = read(bytes);
      const kind = identity(content);
      if (known?.kind === kind) {
        known.view.update(content);
        known.bytes = bytes;
      } else {
        known?.view.destroy();
        current = { bytes, kind, view: open(parentElement, content, listeners(call)) };
        mounted.set(parentElement, current);
      }
    }
    return () => {
      if (!current || mounted.get(parentElement) !== current) return;
      mounted.delete(parentElement);
      current.view.destroy();
    };
  };
}
