const mounted = new WeakMap();

/** What a Streamlit component's state and triggers are called. */
function streamlitOptions({ setStateValue, setTriggerValue }) {
  return {
    plotly: servedPlotly,
    onState: (selection) => setStateValue("selection", selection),
    onForce: (step, id) => setTriggerValue("force", { step, id }),
    onUnforce: (step) => setTriggerValue("unforce", step),
    onReset: () => setTriggerValue("reset", true),
  };
}

/** Whether two payloads are the same to the byte. */
function sameBytes(one, other) {
  return one === other || (one.length === other.length && one.every((byte, at) => byte === other[at]));
}

/**
 * Entry of a Streamlit component (st.components.v2): called again with each new `data`, and
 * then the player on that element stays and is given the new trace.
 */
export default function (component) {
  const { parentElement, data } = component;
  const options = streamlitOptions(component);
  let known = mounted.get(parentElement);
  if (!known) {
    known = { player: mount(parentElement, data, options), data };
    mounted.set(parentElement, known);
  } else {
    known.player.listen(options);
    if (!sameBytes(known.data, data)) known.player.update(data);
    known.data = data;
  }
  document.documentElement.lang = known.player.language();
  return () => {
    if (mounted.get(parentElement) !== known) return;
    mounted.delete(parentElement);
    known.player.destroy();
  };
}

export { mount };
