/** The card beside the pointer: which head this is, what it is for, and how sure that is. */
function createCard(context, frame) {
  const node = element("div", { class: "tooltip card", role: "tooltip", testid: "card", hidden: true });
  const show = (event, { layer, head }) => {
    const site = context.state.site;
    const lines = verdictLines(frame, { site, layer, head }, metricShown(context, frame));
    const title = `${context.say(`site_${site}`)} · ${headName(layer, head)}`;
    node.replaceChildren(...[title, ...lines].map((line) => element("div", {}, line)));
    node.hidden = false;
    placeTooltip(frame.root, node, { x: event.clientX, y: event.clientY });
  };
  const hide = () => {
    node.hidden = true;
  };
  return { element: node, show, hide, update: () => {} };
}
