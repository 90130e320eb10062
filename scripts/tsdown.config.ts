import { defineConfig } from 'tsdown'

/** Builds the programs of the repository's own that import sources: the benchmark and the build of the plugin. */
export default defineConfig({
  cwd: '..',
  entry: { bench: 'bench/bench.ts', 'bench-done': 'bench/done.ts', 'build-plugin': 'scripts/build-plugin.ts' },
  outDir: '.cache/programs',
  outExtensions: () => ({ js: '.mjs' }),
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  dts: false,
  // The main file is UMD, and bundlers do not see the `require` calls in it.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  deps: { alwaysBundle: [/.*/], onlyBundle: false },
})
