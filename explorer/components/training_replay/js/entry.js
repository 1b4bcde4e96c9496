const mounted = new WeakMap();

/**
 * Entry of a Streamlit component (st.components.v2): called again with each new `data`, and then
 * the time-lapse on that element stays and is given what is new, unless it speaks another language
 * or shows another kind of run.
 */
export default function ({ parentElement, data }) {
  const reel = readReel(data);
  let known = mounted.get(parentElement);
  const kind = `${reel.language} ${reel.translates}`;
  if (known && known.kind !== kind) {
    known.film.destroy();
    known = null;
  }
  if (!known) {
    known = { film: mountTimelapse(parentElement, reel), kind };
    mounted.set(parentElement, known);
  } else {
    known.film.update(reel);
  }
  return () => {
    if (mounted.get(parentElement) !== known) return;
    mounted.delete(parentElement);
    known.film.destroy();
  };
}
