let told = 0;

/** After a text was typed and its picture is there, the keys belong to the player. */
export default function ({ data }) {
  if (data.count <= told) return;
  told = data.count;
  for (const host of document.querySelectorAll(".st-key-player *")) {
    const player = host.shadowRoot?.querySelector(".player");
    if (player) player.focus({ preventScroll: true });
  }
}
