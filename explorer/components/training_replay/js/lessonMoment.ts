import { element, type Part } from "../../dom/js/element.ts";
import { keepInSight } from "../../dom/js/inView.ts";
import { createStore, measured } from "../../dom/js/store.ts";
import {
  highlighted,
  lessonAsks,
  onAsking,
  onHighlight,
  onTrainingLook,
  reportAway,
  shownMoment,
  type TrainingLook,
} from "../../page/js/lessonEvents.ts";
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
  const { root, signal } = context;
  const told = createStore({
    look: shownMoment(),
    wanted: highlighted(),
    asked: asksAside(),
  });
  onTrainingLook(() => told.set({ look: shownMoment() }), signal);
  onHighlight(() => told.set({ wanted: highlighted() }), signal);
  onAsking(() => told.set({ asked: asksAside() }), signal);
  let shown: TrainingLook | null = null;
  let away = false;
  let marked: Element | null = null;
  let following: AbortController | null = null;
  const follow = () => {
    const { look } = told.values;
    if (look === shown || (look && keyOf(context.run) !== look.run)) return;
    shown = look;
    if (look) showLook(context, look);
    else context.choose({ step: 0 }); // the lesson was left
  };
  const compare = () => {
    const { look } = told.values;
    const moved = look !== null && isAway(context, look);
    if (moved !== away) reportAway(moved);
    away = moved;
  };
  const wanted = measured(() =>
    root.querySelector(`[data-testid="${CSS.escape(told.values.wanted)}"]`),
  );
  const mark = () => {
    compare();
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
    root.toggleAttribute("data-asked", told.values.asked);
    note.hidden = !told.values.asked;
  };
  return { element: note, views: [follow, hide], after: [mark] };
}

/** Whether this card or a later one asks what curves and sentences tell. */
function asksAside() {
  return lessonAsks().open.some(({ answer }) => TOLD.includes(answer));
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
