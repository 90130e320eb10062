import { fileURLToPath } from 'node:url'
import { defineConfig, type Rolldown, type UserConfig } from 'tsdown'

/**
 * Three entry groups. The hook runs at every stop of every agent, so it is one self-contained file
 * without a dependency; the CLI is bundled too, split by command, so that each loads only its own parts; so is the
 * plugin, because a host's plugin folder holds nothing beside it.
 */
const shared: UserConfig = {
  // The sources are ES modules; what is started is CommonJS, because the loader of ES modules costs Node 20 another
  // 4 ms at every start (bench/README.md).
  format: 'cjs',
  platform: 'node',
  target: 'node20.19',
  outDir: 'dist',
  outExtensions: () => ({ js: '.js' }),
  dts: false,
  clean: false,
  // A bundle that carries its dependencies starts in a third of the time (no module look-ups).
  deps: { alwaysBundle: [/.*/], onlyBundle: false },
  shims: true,
  // Its main file is UMD, whose own requires no bundler sees.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
}

/** The files keep the name `.js`, so the folder says what they are. */
const saysCommonJs: Rolldown.Plugin = {
  name: 'says-commonjs',
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'package.json', source: '{ "type": "commonjs" }\n' })
  },
}

/**
 * Node's own modules as they are. A bundle would else copy all their properties at every start, which makes Node 24
 * load what it keeps for those who ask (3 ms), and hides later changes of them, such as a test's.
 */
const plainBuiltins: Rolldown.Plugin = {
  name: 'plain-builtins',
  resolveId: {
    order: 'pre',
    handler: (source, importer) =>
      /^node:(?:fs|path)$/.test(source) && importer?.includes('/src/') && !importer.includes('node_modules')
        ? `\0builtin:${source}`
        : null,
  },
  load: (id) =>
    id.startsWith('\0builtin:') ? `export default process.getBuiltinModule('${id.slice('\0builtin:'.length)}')` : null,
}

/** commander asks for it at once and uses it only for commands that are programs of their own, which we have none of. */
const lazyChildProcess: Rolldown.Plugin = {
  name: 'lazy-child-process',
  resolveId: (source, importer) =>
    source === 'node:child_process' && importer?.includes('commander') ? '\0lazy-child-process' : null,
  load: (id) =>
    id === '\0lazy-child-process'
      ? "export const spawn = (...words) => process.getBuiltinModule('node:child_process').spawn(...words)"
      : null,
}

const source = (file: string): string => fileURLToPath(new URL(`src/cli/${file}`, import.meta.url))

/**
 * The modules that become one chunk each, with all that they import: every file costs a third of a millisecond to find
 * and open. What an earlier one imports lies in that one's chunk.
 */
const CHUNKS: readonly (readonly [entry: string, chunk: string])[] = [
  [source('index.ts'), 'cli'],
  [source('commands/marker-commands.ts'), 'markers'],
  [source('commands/workflow/run-commands.ts'), 'runs'],
]

/** Every module that `entry` loads at once, itself included: what it imports, and what that imports. */
function loadedBy(entry: string, graph: Pick<Rolldown.ChunkingContext, 'getModuleInfo'>): Set<string> {
  const loaded = new Set([entry])
  for (const id of loaded) for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) loaded.add(imported)
  return loaded
}

const byEntry: Rolldown.CodeSplittingGroup = {
  name: (id, graph) => CHUNKS.find(([entry]) => loadedBy(entry, graph).has(id))?.[1] ?? null,
}

export default defineConfig([
  // Minified, which saves 1 ms of parsing.
  { ...shared, entry: { hook: 'src/hook/index.ts' }, plugins: [plainBuiltins, saysCommonJs], minify: true },
  // Loaded by the hook only where a workflow runs.
  { ...shared, entry: { workflow: 'src/hook/workflow.ts' }, plugins: [plainBuiltins], minify: true },
  // OpenCode loads its plugins as ES modules, whatever the folder says.
  {
    ...shared,
    entry: { 'postflight-guard': 'src/opencode/index.ts' },
    format: 'esm',
    outDir: 'dist/opencode',
    outExtensions: () => ({ js: '.mjs' }),
    outputOptions: { chunkFileNames: '[name].mjs' },
  },
  {
    ...shared,
    // The second one is loaded by commands about markers, only where a workflow's marker lies.
    entry: { cli: 'src/cli/index.ts', 'marker-run': 'src/cli/workflow/marker-run.ts' },
    outDir: 'dist/cli',
    plugins: [plainBuiltins, lazyChildProcess],
    minify: true,
    outputOptions: {
      chunkFileNames: '[name].js',
      codeSplitting: { groups: [byEntry], includeDependenciesRecursively: false },
    },
  },
])
