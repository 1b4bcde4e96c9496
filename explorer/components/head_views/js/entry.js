const opened = new WeakMap();

/** What a Streamlit component's state and triggers are called. */
function listeners({ setStateValue, setTriggerValue }) {
  return {
    onState: (selection) => setStateValue("selection", selection),
    onCell: (cell) => setTriggerValue("cell", cell),
  };
}

/** Whether two runs of bytes are the same. */
function sameRun(one, other) {
  return one === other || (one.length === other.length && one.every((byte, at) => byte === other[at]));
}

/**
 * Entry of a Streamlit component (st.components.v2): called again with each new `data`, and then
 * the room on that element stays and is given what is new.
 */
export default function (component) {
  const { parentElement, data } = component;
  let known = opened.get(parentElement);
  if (!known || !sameRun(known.data, data)) {
    const parcel = readParcel(data);
    const kind = kindOf(parcel);
    if (known && (known.language !== parcel.language || known.kind !== kind)) {
      known.room.destroy(); // other words or of another kind
      known = null;
    }
    if (known) known.room.update(parcel);
    else known = { room: openRoom(parentElement, parcel, listeners(component)) };
    Object.assign(known, { data, kind, language: parcel.language });
    opened.set(parentElement, known);
  }
  known.room.listen(listeners(component));
  return () => {
    if (opened.get(parentElement) !== known) return;
    opened.delete(parentElement);
    known.room.destroy();
  };
}
