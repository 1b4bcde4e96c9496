import { assign, element, populate, write } from "../../dom/js/element.ts";
import { ASKED } from "../../page/js/lessonOnPage.ts";
import { isAsked } from "../../trace/js/stepState.ts";
import type { Cell } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import type { CellArithmetic } from "./arithmetic.ts";
import { decimal, printedPower } from "./printedNumbers.ts";

/** Keys up to which each has a column; a row of more has bars. */
export const MOST_COLUMNS = 12;

const LEAST_SUMMAND = 0.0005; // a smaller one changes no printed digit of the sum

/** Of a key of the row. */
export interface KeyColumn {
  token: string; // as it is shown; "·" where it may be guessed
  title: string; // on hover
  chosen: boolean;
}

/**
 * The numbers that softmax starts from, a column a key: its score and, of a key that is not masked, e
 * to its score less the largest; below them their sum, summand by summand.
 */
export function createScoreColumns(context: TraceContext) {
  const { say } = context;
  const power = element("span", {});
  const names = element(
    "div",
    { class: "score-names" },
    ...[element("span", {}, "\u00a0"), element("span", {}, say("inside_score")), power],
  );
  const columns = element("div", { class: "score-columns" });
  const table = element("div", { class: "scores", testid: "inside-scores" }, names, columns);
  const sum = element("p", { testid: "inside-sum" });
  const why = element("p", { class: "what-for" }, say("inside_largest"));
  const node = element("div", { class: "softmax-numbers" }, table, sum, why);
  const draw = (
    found: CellArithmetic,
    masked: ArrayLike<number>,
    { query }: Cell,
    keys: KeyColumn[],
  ) => {
    const { scores, largest, sum: total } = found;
    const asked = (name: string, key: number) => isAsked(context, name, { query, key });
    const powers = scores.map((score) => printedPower(Math.exp(score - largest)));
    const shown = (key: number) => (asked("power", key) ? ASKED : powers[key].text);
    const nodes = populate(columns, keys.length, () =>
      element("span", { class: "component" }, ...["token", "", ""].map(part)),
    );
    keys.forEach(({ token, title, chosen }, key) => {
      const [name, score, raised] = nodes[key].children;
      write(name, token);
      write(score, asked("score", key) ? ASKED : decimal(scores[key]));
      write(raised, masked[key] ? "" : shown(key));
      assign(nodes[key], "title", title);
      nodes[key].classList.toggle("chosen", chosen);
      nodes[key].classList.toggle("masked", masked[key] !== 0);
    });
    write(power, `e^(s − ${decimal(largest)})`.replace("− −", "+ "));
    const open = keys.flatMap((_, key) => (masked[key] ? [] : [key]));
    node.hidden = open.length === 0;
    const printed = printedPower(total);
    const added = open.reduce((all, key) => all + powers[key].value, 0);
    const equal = Math.abs(added - printed.value) <= printed.unit / 2;
    const tells = keys.some((_, key) => asked("sum of powers", key));
    const large = open.filter((key) => powers[key].value >= LEAST_SUMMAND).map(shown);
    const facts = {
      summands: [...large, ...(large.length < open.length ? ["…"] : [])].join(" + "),
      is: equal ? "=" : "≈",
      sum: tells ? ASKED : printed.text,
    };
    write(sum, say("inside_sum", facts));
  };
  return { element: node, draw };
}

function part(name: string) {
  return element("span", { class: name });
}
