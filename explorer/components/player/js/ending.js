/** That the output was cut off, where the model did not end it itself. */
function createEnding(context) {
  const node = element("p", { class: "note", testid: "cut-off" });
  const update = (changed) => {
    if (!changed.has("trace")) return;
    const { header, steps } = context.pieces;
    node.hidden = header.facts.ended !== false || Boolean(header.facts.given);
    write(node, node.hidden ? "" : context.say("cut_off", { count: steps }));
  };
  return { element: node, update };
}
