/**
 * Compile the AssemblyScript of the browser's model into a module, bundle the scripts and style
 * sheets of the app and of pages without a server into `bundles/`, or the folder named on the command
 * line, and copy plotly.js there with its licence: node bundle.ts [folder]
 */

import { execFileSync } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";
import { build } from "esbuild";
import * as lengths from "./dom/js/lengths.ts";

const banner = "Bundled from explorer/components by `make bundles`; edit the sources instead.";
const here = fileURLToPath(new URL(".", import.meta.url));
const outdir = process.argv[2] ?? `${here}bundles`;
const options = {
  absWorkingDir: here,
  outdir,
  bundle: true,
  minify: true,
  charset: "utf8" as const,
  banner: { js: `/* ${banner} */`, css: `/* ${banner} */` },
};

await writeFile(
  `${here}browser_model/js/linearCode.ts`,
  `/* Compiled from browser_model/assembly/linear.ts by \`make bundles\`. */\n\n` +
    `export const LINEAR_CODE =\n  "${(await compiled("linear")).toString("base64")}";\n`,
);
await build({
  ...options,
  entryPoints: {
    components: "components.ts",
    followed_replay: "training_replay/js/followedReplay.ts",
    notebook_frame: "live/js/notebookFrame.ts",
    notebook_player: "live/js/notebookPlayer.ts",
  },
  format: "esm",
  target: "es2022",
});
// Classic scripts: from disk, browsers load no modules.
await build({
  ...options,
  entryPoints: {
    everything_start: "page/js/everythingStart.ts",
    exported_page: "player/js/exportedPage.ts",
    exported_lesson: "lesson/js/exportedLesson.ts",
    live: "live/js/livePage.ts",
    live_training: "browser_training/js/trainingPage.ts",
    live_worker: "live/js/modelWorker.ts",
    live_service_worker: "live/js/serviceWorker.ts",
  },
  format: "iife",
  target: "es2022",
});
// As a function that the script hands its page, for a worker; jax-js is in it, with its licence.
const jax = await readFile(`${here}node_modules/@jax-js/jax/LICENSE`, "utf8");
await build({
  ...options,
  banner: { js: `receiveTrainer(() => {\n/* ${banner}\n\njax-js: ${jax} */` },
  footer: { js: "});" },
  entryPoints: { live_trainer: "browser_training/js/trainerWorker.ts" },
  format: "iife",
  target: "es2022",
  plugins: [withoutGraphics()],
});
await build({
  ...options,
  entryPoints: {
    live: "live/css/live.css",
    live_training: "browser_training/css/trainingPage.css",
    player: "player/css/playerComponent.css",
    head_grid: "head_views/css/headGridComponent.css",
    model_comparison: "head_views/css/modelComparisonComponent.css",
    metric_matrix: "head_views/css/metricMatrixComponent.css",
    words: "head_views/css/wordsComponent.css",
    training_replay: "training_replay/css/trainingReplayComponent.css",
    lesson: "lesson/css/lessonComponent.css",
    lesson_list: "lesson/css/lessonList.css",
    classroom: "classroom/css/classroom.css",
    chart: "chart/css/chart.css",
    everything: "page/css/everything.css",
    explore: "live/css/exploreComponent.css",
    bar: "live/css/barComponent.css",
  },
  supported: { nesting: false },
  plugins: [withLengths()],
});

// The part of plotly.js with heatmaps and lines, minified by its authors.
const plotly = `${here}node_modules/plotly.js-cartesian-dist-min`;
await copyFile(`${plotly}/plotly-cartesian.min.js`, `${outdir}/plotly.min.js`);
await copyFile(`${plotly}/LICENSE`, `${outdir}/plotly-LICENSE.txt`);

/** Writes the numbers of `lengths.ts` where style sheets name them, such as `env(--phone-width)`. */
function withLengths(): Plugin {
  const named = Object.entries(lengths).map(([name, length]) => [
    `env(--${name.toLowerCase().replaceAll("_", "-")})`,
    `${length}px`,
  ]);
  return {
    name: "lengths",
    setup: ({ onLoad }) =>
      onLoad({ filter: /\.css$/ }, async ({ path }) => {
        const text = await readFile(path, "utf8");
        const contents = named.reduce((css, [name, px]) => css.replaceAll(name, px), text);
        return { contents, loader: "css" };
      }),
  };
}

/** Leaves out the parts of jax-js that compute on graphics processors, half of its size. */
function withoutGraphics(): Plugin {
  return {
    name: "without-graphics",
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /^\.\/web(gpu|gl)-/ }, ({ path }) => ({ path, namespace: "left-out" }));
      onLoad({ filter: /.*/, namespace: "left-out" }, () => ({ contents: "" }));
    },
  };
}

/** The WebAssembly of a file in `browser_model/assembly/`, on a memory that JavaScript makes. */
async function compiled(name: string) {
  const folder = await mkdtemp(`${tmpdir()}/assembly-`);
  const out = `${folder}/${name}.wasm`;
  const how = ["-O3", "--noAssert", "--runtime", "stub", "--importMemory", "--enable", "simd"];
  const compiler = `${here}node_modules/assemblyscript/bin/asc.js`;
  const source = `${here}browser_model/assembly/${name}.ts`;
  execFileSync(process.execPath, [compiler, source, "--baseDir", "/", "--outFile", out, ...how]);
  const bytes = await readFile(out);
  await rm(folder, { recursive: true });
  return bytes;
}
