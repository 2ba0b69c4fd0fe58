/** Builds the page into the Python package, with a compressed twin of each file. */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

const PAGE = "../src/handraise/api/page";
const TEXTUAL = /\.(js|css|html|svg|webmanifest)$/;

function twins(): Plugin {
  return {
    name: "compressed-twins",
    apply: "build",
    closeBundle() {
      for (const path of readdirSync(PAGE, { recursive: true, encoding: "utf8" })) {
        const file = join(PAGE, path);
        if (!TEXTUAL.test(file) || !statSync(file).isFile()) continue;
        const whole = readFileSync(file);
        writeFileSync(`${file}.br`, brotliCompressSync(whole, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
        writeFileSync(`${file}.gz`, gzipSync(whole, { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  base: "/",
  plugins: [twins()],
  build: {
    outDir: PAGE,
    emptyOutDir: true,
    target: "es2022",
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // Everything is a file of its own: the hub's policy allows no inline script, style or font.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
