/** The two outputs over each other, as far as decoded; what differs is underlined. */
function createOutputs(frame, original, changed) {
  const node = element("div", { class: "twin-outputs", testid: "twin-outputs" });
  const line = (name, own, other) =>
    element(
      "div",
      { class: "output" },
      element("span", { class: "output-name" }, frame.say(name)),
      ...own.predicted.map((token, place) => tokenElement(token, { class: token === other.predicted[place] ? "" : "differs" })),
    );
  const update = (names) => {
    if (!names.has("trace")) return;
    node.replaceChildren(
      line("output_original", original.trace, changed.trace),
      line("output_changed", changed.trace, original.trace),
    );
  };
  return { element: node, update };
}
