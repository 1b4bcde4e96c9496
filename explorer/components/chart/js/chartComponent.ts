import { assign, element } from "../../dom/js/element.ts";
import { onResize } from "../../dom/js/onResize.ts";
import { type Chart, createPlot, type Plotly, servedPlotly } from "../../dom/js/plotly.ts";
import { fillIn } from "../../dom/js/sentences.ts";
import { createScreen, createStore } from "../../dom/js/store.ts";
import { figureButtons } from "../../figure/js/figureButtons.ts";
import { chartFigure } from "../../figure/js/figureSheet.ts";
import { FONT, MARGIN, TYPE } from "../../figure/js/figureText.ts";
import { printPalette } from "../../page/js/palette.ts";
import { projectorChosen, showProjector } from "../../page/js/projector.ts";
import { streamlitComponent, type View } from "../../page/js/streamlitComponent.ts";
import { watchTheme } from "../../page/js/watchers.ts";
import { type ChartContent, inColours, readChart, SCREEN_TYPE } from "./chartContent.ts";

/** A chart that the server specifies, with buttons that save it, as a Streamlit component. */
export default streamlitComponent({
  read: readChart,
  identity: ({ language }) => language,
  listeners: ({ setTriggerValue }) => ({
    pick: (point: number) => setTriggerValue("point", point),
  }),
  open: openChart,
});

interface Listeners {
  pick: (point: number) => void;
}

const SCROLL_BAR = 16; // px
const SCROLL_EDGE = 6; // px that are no more than the margin

function openChart(
  parent: HTMLElement | ShadowRoot,
  content: ChartContent,
  listeners: Listeners,
): View<ChartContent, Listeners> {
  let heard = listeners;
  const abort = new AbortController();
  const root = element("div", { class: "player chart", lang: content.language });
  const plot = element("div", { role: "img", testid: "chart", "aria-label": content.name });
  const problem = element("p", { class: "notice", hidden: true });
  parent.append(root);
  const palette = watchTheme(root, (next) => set({ palette: next }));
  const { values, set } = createStore({
    content,
    palette,
    width: 0,
    plotly: null as Plotly | null,
  });
  const say = (key: string) => fillIn(values.content.strings, key);
  const figures = figureButtons(say, {
    figure: (width) => values.plotly && savedChart(values.plotly, values.content, width),
    fileName: () => values.content.file_name,
  });
  root.append(plot, problem, element("div", { class: "chart-save" }, ...figures));
  showProjector(root, projectorChosen());
  const show = createPlot(plot, abort.signal, {
    plotly_click: ({ points }) => {
      const point = points?.[0]?.customdata;
      if (values.content.picks && typeof point === "number") heard.pick(point);
    },
  });
  const draw = () => {
    const { content, palette, width, plotly } = values;
    if (!width) return;
    const type = SCREEN_TYPE[projectorChosen() ? "projector" : "desk"];
    const chart = inColours(content.chart, palette, { room: width, type });
    const bar = chart.layout.width > width ? SCROLL_BAR : 0;
    plot.style.height = `${chart.layout.height + bar}px`;
    root.classList.toggle("picks", content.picks);
    if (plotly) show(plotly, chart).then(mark);
  };
  const mark = () => {
    root.style.setProperty("--scrolled", `${plot.scrollLeft}px`);
    assign(root, "data-more", moreBeside(plot));
  };
  plot.addEventListener("scroll", mark, { passive: true, signal: abort.signal });
  const screen = createScreen();
  screen.show({ views: [draw] });
  onResize([plot], abort.signal, () => set({ width: plot.clientWidth }));
  servedPlotly().then(
    (plotly) => set({ plotly }),
    () => {
      problem.hidden = false;
      problem.textContent = say("no_plotly");
    },
  );
  return {
    update: (next) => set({ content: next }),
    listen: (next) => {
      heard = next;
    },
    destroy: () => {
      abort.abort();
      screen.stop();
      root.remove();
    },
  };
}

/** On which sides a chart that scrolls has more than is in view; null where it shows all. */
function moreBeside({ scrollLeft, scrollWidth, clientWidth }: HTMLElement) {
  const left = scrollLeft > SCROLL_EDGE ? "left " : "";
  const right = scrollWidth - clientWidth - scrollLeft > SCROLL_EDGE ? "right" : "";
  return (left + right).trim() || null;
}

/** @param width of the figure, px; a chart that needs more is saved wider */
function savedChart(plotly: Plotly, content: ChartContent, width: number) {
  const palette = printPalette(FONT);
  const whole = { room: width - 2 * MARGIN, type: TYPE, scrolls: false };
  const chart: Chart = inColours(content.chart, palette, whole);
  const { title, captions } = content;
  const texts = { palette, title, captions, width: chart.layout.width + 2 * MARGIN };
  return chartFigure(plotly, chart, content, texts);
}
