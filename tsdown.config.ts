import { defineConfig, type UserConfig } from 'tsdown'

/**
 * Two entry groups. The hook runs at every stop of every agent, so it is one self-contained file
 * without a dependency; the CLI is bundled too, split by command, so that each loads only its own parts.
 */
const shared: UserConfig = {
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  outDir: 'dist',
  outExtensions: () => ({ js: '.js' }),
  dts: false,
  clean: false,
  // A bundle that carries its dependencies starts in a third of the time (no module look-ups).
  deps: { alwaysBundle: [/.*/], onlyBundle: false },
  // write-file-atomic reads __filename at its first write: without the shim the bundle loads and then dies there.
  shims: true,
  // Its main file is UMD, whose own requires no bundler sees.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
}

export default defineConfig([
  { ...shared, entry: { hook: 'src/hook/index.ts' } },
  { ...shared, entry: { cli: 'src/cli/index.ts' }, outDir: 'dist/cli' },
])
