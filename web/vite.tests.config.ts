/** Bundles the tests of pure logic for `node --test`. */
import { readdirSync } from "node:fs";
import { defineConfig } from "vite";

const tests = readdirSync("tests").filter((name) => name.endsWith(".test.ts"));

export default defineConfig({
  publicDir: false,
  build: {
    ssr: true,
    outDir: "node_modules/.tests",
    emptyOutDir: true,
    target: "node20",
    rollupOptions: {
      input: Object.fromEntries(tests.map((name) => [name.replace(/\.ts$/, ""), `tests/${name}`])),
      output: { entryFileNames: "[name].mjs" },
    },
  },
});
