import { element, type Part } from "../../dom/js/element.ts";
import { keepInSight } from "../../dom/js/inView.ts";
import { measured } from "../../dom/js/store.ts";
import type { TrainingLook } from "../../page/js/lessonOnPage.ts";
import { onPage, setOnPage } from "../../page/js/onPage.ts";
import { keyOf } from "./address.ts";
import type { ReplayContext } from "./replayContext.ts";
import { nearestMoment } from "./runData.ts";

const MARK = "data-highlighted";
/** Answers, as in `run_answers.py`, that curves and sentences beside the picture would tell. */
const TOLD = ["picture", "loss", "right outputs"];

/**
 * What the card of a lesson shows of a training: its moment, head and row once, and the outline
 * around what it speaks of. Until all is answered, the style sheet hides what would tell it.
 */
export function createLessonMoment(context: ReplayContext): Part {
  const { root } = context;
  let shown: TrainingLook | null = null;
  let marked: Element | null = null;
  let following: AbortController | null = null;
  const follow = () => {
    const look = lookNow();
    if (look === shown || (look && keyOf(context.run) !== look.run)) return;
    shown = look;
    if (look) showLook(context, look);
    else context.choose({ step: 0 }); // the lesson was left
  };
  const wanted = measured(() => {
    const name = onPage.lesson?.card()?.highlight ?? "";
    return root.querySelector(`[data-testid="${CSS.escape(name)}"]`);
  });
  const mark = () => {
    const look = lookNow();
    const away = look !== null && isAway(context, look);
    setOnPage({ away });
    const found = away ? null : wanted();
    if (found === marked) return;
    following?.abort();
    marked?.removeAttribute(MARK);
    marked = found;
    marked?.setAttribute(MARK, "");
    following = marked ? keepInSight(root, marked) : null;
  };
  const note = element("p", { class: "asked-note", hidden: true }, context.say("asked_note"));
  const hide = () => {
    const asked = asksAside();
    root.toggleAttribute("data-asked", asked);
    note.hidden = !asked;
  };
  return { element: note, views: [follow, hide], after: [mark] };
}

/** What the card shows of a training; null without such a card. */
function lookNow() {
  const look = onPage.lesson?.look() ?? null;
  return look && "moment" in look ? look : null;
}

/** Whether this card or a later one asks what curves and sentences tell. */
function asksAside() {
  return onPage.lesson?.asked().open.some(({ answer }) => TOLD.includes(answer)) ?? false;
}

function showLook(context: ReplayContext, { moment, site, layer, head, step }: TrainingLook) {
  context.act.goTo(nearestMoment(context.run.moments, moment));
  context.set({ headChosen: true });
  const place = { layer: layer ?? 0, head: head ?? 0, step: step ?? 0 };
  context.choose({ site: site ?? context.run.site, ...place });
}

/** Whether the visitor has moved on to another moment, head or row. */
function isAway({ run, state, picture }: ReplayContext, look: TrainingLook) {
  if (!picture) return false;
  const probe = picture.state;
  const same = probe.site === look.site && probe.layer === look.layer && probe.head === look.head;
  return run.moments[state.at]?.step !== look.moment || !same;
}
