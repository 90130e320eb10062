import { defineConfig } from 'tsdown'

/** Builds the benchmark, which shares the download of pinned packages with the host tests. */
export default defineConfig({
  cwd: '..',
  entry: { bench: 'bench/bench.ts' },
  outDir: '.cache/bench',
  outExtensions: () => ({ js: '.mjs' }),
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  dts: false,
  deps: { alwaysBundle: [/.*/], onlyBundle: false },
})
