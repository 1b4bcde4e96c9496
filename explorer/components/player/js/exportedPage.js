import { mountFromPage } from "./pagePlayer.js";

const payload = /** @type {HTMLElement} */ (document.getElementById("payload"));
const parent = /** @type {HTMLElement} */ (document.getElementById("player"));
await mountFromPage(parent, document, payload);
