import { sameBytes } from "./envelope.ts";

/** What Streamlit calls a component with. */
export interface StreamlitArguments {
  parentElement: HTMLElement | ShadowRoot;
  data: Uint8Array;
  setStateValue: (name: string, value: unknown) => void;
  setTriggerValue: (name: string, value: unknown) => void;
}

/** A mounted component. */
export interface View<Content, Listeners> {
  update: (content: Content) => void;
  listen: (listeners: Listeners) => void; // takes the listeners of the latest call
  destroy: () => void;
}

/**
 * The default export of a component (st.components.v2). Streamlit calls it at every rerun; the view
 * on the element stays and is updated when the bytes have changed. It is mounted anew only when
 * `identity` differs.
 */
export function streamlitComponent<Content, Listeners>({
  read,
  open,
  listeners,
  identity = () => "",
}: {
  read: (bytes: Uint8Array) => Content;
  open: (
    root: HTMLElement | ShadowRoot,
    content: Content,
    listeners: Listeners,
  ) => View<Content, Listeners>;
  listeners: (call: StreamlitArguments) => Listeners;
  identity?: (content: Content) => string;
}): (call: StreamlitArguments) => () => void {
  const mounted: WeakMap<
    object,
    { bytes: Uint8Array; kind: string; view: View<Content, Listeners> }
  > = new WeakMap();
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
