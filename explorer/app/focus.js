let seen = 0;

/** Move the keyboard's focus to the player after a text was submitted and its picture is there. */
export default function ({ data }) {
  if (data.count <= seen) return;
  seen = data.count;
  for (const host of document.querySelectorAll(".st-key-player *")) {
    const player = host.shadowRoot?.querySelector(".player");
    if (player) player.focus({ preventScroll: true });
  }
}
