import { mountFromPage } from "./pagePlayer.ts";

const payload = document.getElementById("payload") as HTMLElement;
const parent = document.getElementById("player") as HTMLElement;
void mountFromPage(parent, document, payload);
