import { addressOf } from "../../classroom/js/stream.ts";
import { readTrace } from "../../trace/js/trace.ts";
import { serverBytes } from "../../trace/js/traceQuestions.ts";
import { type PageStore, traceWord } from "./pageState.ts";
import { READ_ONLY } from "./playerListeners.ts";
import type { TracePicture } from "./tracePicture.ts";

/**
 * Show the trace of a host, which can be stepped through and looked into; another text is asked of a
 * model of this page.
 */
export async function showHostTrace(
  key: string,
  { values: state, set }: PageStore,
  picture: TracePicture,
  latest: () => boolean,
) {
  const bytes = await serverBytes(addressOf(`trace/${key}`), null, () => {});
  if (!latest()) return;
  const trace = readTrace(bytes);
  const { language, host } = state;
  set({ onScreen: { word: traceWord({ key }, language), request: null, hint: "" } });
  trace.header.view.what_if = false;
  trace.header.language = language;
  picture.draw(trace, READ_ONLY, host?.picture ?? "player");
  if (host) picture.follow(host);
}
