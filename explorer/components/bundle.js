/**
 * Bundle the JavaScript and CSS of every component into `bundles/`, or the folder named on the
 * command line, and copy plotly.js there with its licence: node bundle.js [folder]
 */

import { copyFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const banner = "Bundled from explorer/components by `make bundles`; edit the sources instead.";
const here = fileURLToPath(new URL(".", import.meta.url));
const outdir = process.argv[2] ?? `${here}bundles`;
const options = {
  absWorkingDir: here,
  outdir,
  bundle: true,
  minify: true,
  charset: /** @type {const} */ ("utf8"),
  // Streamlit takes a text without a line break for the name of a file.
  banner: { js: `/* ${banner} */`, css: `/* ${banner} */` },
};

await build({
  ...options,
  entryPoints: {
    player: "player/js/playerComponent.js",
    exported_page: "player/js/exportedPage.js",
    head_grid: "head_views/js/headGridComponent.js",
    comparison: "head_views/js/comparisonComponent.js",
    model_comparison: "head_views/js/modelComparisonComponent.js",
    metric_matrix: "head_views/js/metricMatrixComponent.js",
    words: "head_views/js/wordsComponent.js",
    training_replay: "training_replay/js/trainingReplayComponent.js",
    lesson: "lesson/js/lessonComponent.js",
    exported_lesson: "lesson/js/exportedLesson.js",
    exported_replay: "training_replay/js/exportedReplay.js",
    classroom: "classroom/js/classroomComponent.js",
  },
  format: "esm",
  target: "es2022",
});
// Classic scripts: from disk, browsers load no modules.
await build({
  ...options,
  entryPoints: {
    live: "live/js/livePage.js",
    live_worker: "live/js/modelWorker.js",
    live_service_worker: "live/js/serviceWorker.js",
  },
  format: "iife",
  target: "es2022",
});
await build({
  ...options,
  entryPoints: {
    live: "live/css/live.css",
    player: "player/css/playerComponent.css",
    head_grid: "head_views/css/headGridComponent.css",
    comparison: "head_views/css/comparisonComponent.css",
    model_comparison: "head_views/css/modelComparisonComponent.css",
    metric_matrix: "head_views/css/metricMatrixComponent.css",
    words: "head_views/css/wordsComponent.css",
    training_replay: "training_replay/css/trainingReplayComponent.css",
    lesson: "lesson/css/lessonComponent.css",
    classroom: "classroom/css/classroom.css",
  },
});

// The part of plotly.js with heatmaps and lines, minified by its authors.
const plotly = `${here}node_modules/plotly.js-cartesian-dist-min`;
await copyFile(`${plotly}/plotly-cartesian.min.js`, `${outdir}/plotly-cartesian.min.js`);
await copyFile(`${plotly}/LICENSE`, `${outdir}/plotly-LICENSE.txt`);
