import { assign, buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import { onPage } from "../../page/js/onPage.ts";
import type { Question } from "../../page/js/pictureOnPage.ts";
import { cells, type Picture } from "../../page/js/smallPicture.ts";
import { hasFormed, leakReason } from "./momentText.ts";
import type { ReplayContext } from "./replayContext.ts";
import type { RunData } from "./runData.ts";

const FORMING: Record<string, Picture> = {
  copy: "diagonal",
  reverse: "antidiagonal",
  sort: "scattered",
};

/** Guesses by run, as long as the page is open; null: the question was skipped. */
const guesses = new Map<string, Picture | null>();

/** The guess that was made for a run; undefined before. */
export function guessFor(run: Pick<RunData, "key">) {
  return guesses.get(run.key);
}

/** The picture that a head of a run becomes; undefined for other tasks. */
export function formingPicture({ task, causal }: Pick<RunData, "task" | "causal">) {
  if (task in FORMING && !causal) return "ahead";
  return FORMING[task];
}

/** The pictures to choose from; the right one is among them. */
export function offeredPictures({ causal }: Pick<RunData, "causal">): Picture[] {
  return ["diagonal", "antidiagonal", causal ? "scattered" : "ahead"];
}

/**
 * One guess while a training goes on, before anything has formed: which picture will it become? And
 * after that what formed, and whether the guess was right.
 */
export function createPictureGuess(context: ReplayContext): Part {
  const { say, state, source } = context;
  const answer = (guess: Picture | null) => keepGuess(context, guess);
  const question = element("span", { class: "guess-question", role: "status" });
  const pictures = element("span", { class: "guess-pictures" });
  const skip = buttonElement(
    () => answer(null),
    { class: "quiet", testid: "guess-skip" },
    say("guess_skip"),
  );
  const node = element("div", { class: "picture-guess", testid: "picture-guess" }, pictures);
  node.prepend(question);
  node.append(skip);
  let shown = "";
  const showPictures = (names: Picture[], asked: boolean) => {
    const next = `${names} ${asked}`;
    if (next === shown) return;
    shown = next;
    pictures.replaceChildren(
      ...names.map((name) => {
        const label = say(`picture_${name}`);
        const look = { class: "guess-picture", title: label, "aria-label": label };
        if (!asked) return element("span", { ...look, role: "img" }, ...cells(name));
        const looks = { ...look, testid: `picture-${name}` };
        return buttonElement(() => answer(name), looks, ...cells(name));
      }),
    );
  };
  const draw = () => {
    const { run } = context;
    const { guess } = state;
    const right = formingPicture(run);
    const formed = isFormed(context);
    const asked = guess === undefined && run.report.going && !formed;
    const unasked = guess === null || (!asked && !guess);
    node.hidden = !right || unasked || source.follows === true || onPage.classVotes;
    if (node.hidden || !right) return;
    skip.hidden = !asked;
    showPictures(guess ? [guess] : offeredPictures(run), asked);
    const names = { picture: say(`picture_${right}`), guess: guess ? say(`picture_${guess}`) : "" };
    const told = guess === right ? "guess_right" : "guess_wrong";
    const ask = run.causal ? "guess_question" : "guess_question_decoder";
    write(question, say(asked ? ask : formed ? told : "guess_made", names));
    assign(node, "data-right", formed && guess ? String(guess === right) : null);
  };
  return { element: node, views: [draw] };
}

/**
 * What a class votes on in the place of one person's guess; null for another task. The answer comes
 * once the host reveals it or the picture has formed.
 */
export function pictureQuestion(context: ReplayContext): Question | null {
  const { run, state } = context;
  const right = formingPicture(run);
  if (!right) return null;
  const candidates = offeredPictures(run);
  const open = state.guess === undefined && run.report.going && !isFormed(context);
  return {
    kind: "picture",
    head: run.causal ? "" : "decoder",
    tokens: [],
    candidates,
    positions: [],
    prompt: "",
    answer: open ? null : candidates.indexOf(right),
  };
}

/** The host ends the vote; who looks at this run is not asked again. */
export function revealPicture(context: ReplayContext) {
  if (context.state.guess === undefined) keepGuess(context, null);
}

function keepGuess(context: ReplayContext, guess: Picture | null) {
  guesses.set(context.run.key, guess);
  context.set({ guess });
}

/** Whether the picture has formed at the newest moment: a look back does not ask again. */
function isFormed({ run, say }: ReplayContext) {
  const moment = run.moments.at(-1);
  if (!moment) return false;
  return run.causal ? hasFormed(moment) : leakReason(say, run, moment) !== "";
}
