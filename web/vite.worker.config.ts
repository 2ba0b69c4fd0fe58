/** Builds what works beside the page: its worker, in one file as every browser takes it, and the icons. */
import { readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";
import { drawIcons } from "./dev/icons.mjs";

const PAGE = "../src/handraise/api/page";

function beside(): Plugin {
  return {
    name: "beside-the-page",
    apply: "build",
    closeBundle() {
      const worker = readFileSync(`${PAGE}/worker.js`);
      writeFileSync(`${PAGE}/worker.js.br`, brotliCompressSync(worker));
      writeFileSync(`${PAGE}/worker.js.gz`, gzipSync(worker, { level: 9 }));
      for (const [name, png] of drawIcons(readFileSync("public/icon.svg", "utf8"))) writeFileSync(`${PAGE}/${name}`, png);
    },
  };
}

export default defineConfig({
  base: "/",
  publicDir: false,
  plugins: [beside()],
  build: {
    outDir: PAGE,
    emptyOutDir: false,
    target: "es2022",
    reportCompressedSize: false,
    rollupOptions: { input: "worker/worker.ts", output: { format: "iife", entryFileNames: "worker.js" } },
  },
});
