/**
 * Bundle the JavaScript and CSS of every component into `bundles/`, or the folder named on the
 * command line: node bundle.js [folder]
 */

import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));

await build({
  absWorkingDir: here,
  entryPoints: {
    player: "player/js/playerComponent.js",
    exported_page: "player/js/exportedPage.js",
    head_grid: "head_views/js/headGridComponent.js",
    comparison: "head_views/js/comparisonComponent.js",
    metric_matrix: "head_views/js/metricMatrixComponent.js",
    training_replay: "training_replay/js/trainingReplayComponent.js",
  },
  outdir: process.argv[2] ?? "bundles",
  bundle: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  minify: true,
});
await build({
  absWorkingDir: here,
  entryPoints: {
    player: "player/css/playerComponent.css",
    head_grid: "head_views/css/headGridComponent.css",
    comparison: "head_views/css/comparisonComponent.css",
    metric_matrix: "head_views/css/metricMatrixComponent.css",
    training_replay: "training_replay/css/trainingReplayComponent.css",
  },
  outdir: process.argv[2] ?? "bundles",
  bundle: true,
  charset: "utf8",
  minify: true,
});
