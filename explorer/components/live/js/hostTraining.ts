/**
 * The training on the host's screen of a class, in the place of a guest's player. It is drawn by
 * a script of its own, which is loaded when the first training comes.
 */

import { addressOf } from "../../classroom/js/stream.ts";
import { element, type Part, write } from "../../dom/js/element.ts";
import { latestOnly } from "../../dom/js/latestOnly.ts";
import { fillIn } from "../../dom/js/sentences.ts";
import { onPage } from "../../page/js/onPage.ts";
import type { ShownTraining } from "../../page/js/pictureOnPage.ts";
import { embeddedPlotly } from "../../player/js/embeddedPlotly.ts";
import type {
  FollowedReplay,
  mountFollowedReplay,
} from "../../training_replay/js/followedReplay.ts";
import type { PageStrings } from "./pageData.ts";
import type { PageStore } from "./pageState.ts";

const ON_SCREEN = "data-class-training"; // on the page, in the place of the player
const AGAIN = [2000, 6000]; // ms before another try, by chance: all guests wait

export interface HostTraining extends Part {
  follow: () => Promise<void>; // show the host's training, as it is now
}

/** @param strings by language */
export function createHostTraining(
  { values: state, set }: PageStore,
  strings: Record<string, PageStrings>,
): HostTraining {
  const note = element("p", { class: "note", role: "status", testid: "training-note" });
  const place = element("div");
  const main = element("main", { id: "training", hidden: true }, note, place);
  const root = place.attachShadow({ mode: "open" });
  let opening: Promise<FollowedReplay> | null = null;
  let replay: FollowedReplay | null = null; // once it is loaded
  let shown = ""; // the state of a run that the replay has, see `stateOf`
  let selected = ""; // what was followed last
  let timer: ReturnType<typeof setTimeout> | undefined; // until the next try

  const load = async (training: ShownTraining, language: string) => {
    if (!shown) set({ trainingNote: "trace_loading" });
    opening ??= openReplay(root);
    opening.catch(() => {
      opening = null; // the next try may open it
    });
    const answer = await fetch(addressOf(`training?lang=${language}`));
    if (!answer.ok) throw new Error(String(answer.status));
    const bytes = new Uint8Array(await answer.arrayBuffer());
    replay = await opening;
    replay.showEverything(onPage.everything);
    replay.show(bytes, strings[language]);
    shown = stateOf(training, language);
    set({ trainingNote: "" });
  };
  /** What the host selects next brings back a guest who looks at another moment or head. */
  const select = () => {
    const training = state.host?.training;
    if (!training) return;
    const { run, moment, site, layer, head } = training;
    const wanted = JSON.stringify([run, state.language, moment, site, layer, head]);
    if (wanted !== selected) replay?.follow({ moment, site, layer, head });
    selected = wanted;
  };
  const follow = latestOnly(async () => {
    clearTimeout(timer);
    const { host, language } = state;
    if (!host?.training) {
      selected = "";
      return;
    }
    try {
      if (shown !== stateOf(host.training, language)) await load(host.training, language);
      select();
    } catch {
      set({ trainingNote: "no_trace" });
      timer = setTimeout(follow, AGAIN[0] + Math.random() * (AGAIN[1] - AGAIN[0]));
    }
  });

  const draw = () => {
    const training = state.host?.training;
    main.hidden = !training;
    document.documentElement.toggleAttribute(ON_SCREEN, Boolean(training));
    const { everything } = onPage;
    replay?.showEverything(everything);
    const { trainingNote, language } = state;
    write(note, trainingNote && fillIn(strings[language].class_tools, trainingNote));
  };
  return { element: main, views: [draw], follow };
}

function stateOf({ run, others, revision }: ShownTraining, language: string) {
  return JSON.stringify([run, others, revision, language]);
}

/** @param root which gets the replay and its style sheet */
async function openReplay(root: ShadowRoot): Promise<FollowedReplay> {
  const styles = element("link", { rel: "stylesheet", href: "training_replay.css" });
  const styled = new Promise((resolve, reject) => {
    styles.onload = resolve;
    styles.onerror = reject;
  });
  root.replaceChildren(styles);
  const address = new URL("followed_replay.js", document.baseURI).href;
  const [replay] = await Promise.all([import(address), styled]);
  const script: { mountFollowedReplay: typeof mountFollowedReplay } = replay;
  return script.mountFollowedReplay(root, embeddedPlotly);
}
