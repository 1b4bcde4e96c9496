/**
 * Bundle the JavaScript and CSS of every component into `bundles/`, or the folder named on the
 * command line: node bundle.js [folder]
 */

import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const banner = "Bundled from explorer/components by `make bundles`; edit the sources instead.";
const options = {
  absWorkingDir: fileURLToPath(new URL(".", import.meta.url)),
  outdir: process.argv[2] ?? "bundles",
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
    metric_matrix: "head_views/js/metricMatrixComponent.js",
    training_replay: "training_replay/js/trainingReplayComponent.js",
  },
  format: "esm",
  target: "es2022",
});
await build({
  ...options,
  entryPoints: {
    player: "player/css/playerComponent.css",
    head_grid: "head_views/css/headGridComponent.css",
    comparison: "head_views/css/comparisonComponent.css",
    metric_matrix: "head_views/css/metricMatrixComponent.css",
    training_replay: "training_replay/css/trainingReplayComponent.css",
  },
});
