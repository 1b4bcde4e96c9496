/** A labelled select; `offer` gives it its choices. */
function choiceElement({ say }, name, choose) {
  const select = element("select", { testid: name, title: say(`${name}_title`), on: { change: () => choose(select.value) } });
  const node = element("label", { class: "choice" }, say(name), select);
  let known = "";
  const offer = (choices, chosen) => {
    const text = JSON.stringify(choices);
    if (text !== known) select.replaceChildren(...choices.map(([value, words]) => element("option", { value }, words)));
    known = text;
    select.value = chosen;
  };
  return { element: node, offer };
}
