const MOST_ABOVE = 330; // px; what stands lower than that may scroll

/**
 * What every room of the gallery stands in: its element, its theme, its words.
 * @param {Element|ShadowRoot} root @param {object} parcel @param {object} options what the app
 *   wants to hear
 */
function createFrame(root, parcel, options) {
  const abort = new AbortController();
  const node = element("div", {
    class: `player gallery ${parcel.room}`,
    testid: `gallery-${parcel.room}`,
    tabindex: "-1",
    lang: parcel.language,
  });
  const probe = element("i", { class: "probe", "aria-hidden": "true" });
  node.append(probe);
  root.append(node);
  const frame = { root: node, signal: abort.signal, parcel, options: { ...options }, recolour: [] };
  frame.palette = readPalette(probe);
  node.dataset.theme = frame.palette.dark ? "dark" : "light";
  frame.say = (key, facts) => fill(frame.parcel.strings, key, facts);
  frame.role = (name) => frame.parcel.role_strings[name] ?? name;
  probe.addEventListener("transitionend", () => {
    const palette = readPalette(probe);
    if (palette.key === frame.palette.key) return;
    frame.palette = palette;
    node.dataset.theme = palette.dark ? "dark" : "light";
    for (const tell of frame.recolour) tell(palette);
  });
  frame.destroy = () => {
    abort.abort();
    node.remove();
  };
  return frame;
}

/** Follow the room there is, and whether it is for one column only. */
function watchFrame(frame, resized) {
  const { root, signal } = frame;
  const fit = () => {
    const top = Math.max(root.getBoundingClientRect().top + window.scrollY, 0);
    root.style.setProperty("--gallery-room", `calc(100dvh - ${Math.round(Math.min(top, MOST_ABOVE))}px)`);
    assign(root, "data-narrow", root.clientWidth < NARROW ? "" : null);
    resized();
  };
  const observer = new ResizeObserver(fit);
  observer.observe(root);
  window.addEventListener("resize", fit, { signal });
  signal.addEventListener("abort", () => observer.disconnect());
  fit();
}
