import { mountFromPage } from "./pagePlayer.ts";

const payload = document.getElementById("payload") as HTMLElement;
const parent = document.getElementById("player") as HTMLElement;
await mountFromPage(parent, document, payload);
