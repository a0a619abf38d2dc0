// node build.mjs FOLDER: bundles the viewer's page into FOLDER.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const out = process.argv[2];
mkdirSync(out, { recursive: true });
await build({
  entryPoints: ["src/app.ts"], outfile: `${out}/app.js`, bundle: true, minify: true, format: "iife", target: "es2021",
  legalComments: "inline", logLevel: "warning",
});
writeFileSync(`${out}/index.html`, readFileSync("src/index.html"));
writeFileSync(`${out}/app.css`, readFileSync("node_modules/uplot/dist/uPlot.min.css", "utf8") + readFileSync("src/app.css", "utf8"));
