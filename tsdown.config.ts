import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig, type Rolldown, type UserConfig } from 'tsdown'
import { writesNotices } from './scripts/third-party-notices.ts'

/** `scripts/build.js` names a folder beside `dist/`, so that hooks find a whole `dist/` during a build. */
const output = process.env.POSTFLIGHT_BUILD_FOLDER ?? 'dist'

/**
 * The entry groups. The hook runs at every stop of every agent, so it is one self-contained file without a dependency. The
 * CLI is bundled too and split by command, so that each command loads only its own parts. The plugin is bundled because a
 * host's plugin folder has no `node_modules`.
 */
const shared: UserConfig = {
  // The sources are ES modules, the output is CommonJS: the loader of ES modules costs Node 20 another 4 ms at every
  // start (bench/README.md).
  format: 'cjs',
  platform: 'node',
  target: 'node20.19',
  outDir: output,
  outExtensions: () => ({ js: '.js' }),
  dts: false,
  clean: false,
  // A bundle with its dependencies starts in a third of the time, because no modules are searched for.
  deps: { alwaysBundle: [/.*/], onlyBundle: false },
  shims: true,
  // Otherwise each bundle keeps a hundred reads of exit codes that it does not use.
  treeshake: { propertyReadSideEffects: false },
  alias: {
    // The main file is UMD, and bundlers do not see the `require` calls in it.
    'jsonc-parser': 'jsonc-parser/lib/esm/main.js',
    // As ES modules, of which the bundler leaves out a seventh. For Node the package has CommonJS only (2.9.1).
    yaml: fileURLToPath(new URL('node_modules/yaml/browser/dist/index.js', import.meta.url)),
  },
}

/** Adds a `package.json` to the folder, which says that its `.js` files are CommonJS. */
const saysCommonJs: Rolldown.Plugin = {
  name: 'says-commonjs',
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'package.json', source: '{ "type": "commonjs" }\n' })
  },
}

/**
 * Uses Node's own modules as they are. Otherwise a bundle copies all their properties at every start, which makes Node 24
 * load modules that it loads on demand (3 ms), and hides later changes to them, such as a test's.
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

/** Loads `node:child_process` on demand, which takes 4 ms: only checks, git and hosts are started. */
const lazyChildProcess: Rolldown.Plugin = {
  name: 'lazy-child-process',
  resolveId: (source, importer) =>
    source === 'node:child_process' && importer !== undefined ? '\0lazy-child-process' : null,
  load: (id) =>
    id === '\0lazy-child-process'
      ? ['spawn', 'spawnSync']
          .map(
            (name) =>
              `export const ${name} = (...words) => process.getBuiltinModule('node:child_process').${name}(...words)`,
          )
          .join('\n')
      : null,
}

/** Leaves the two files beside the hook's where they are: it requires them on demand. */
const bundlesBeside: Rolldown.Plugin = {
  name: 'bundles-beside',
  resolveId: {
    order: 'pre',
    handler: (source) => (/^\.\/(?:workflow|done-hook)\.js$/.test(source) ? { id: source, external: true } : null),
  },
}

/**
 * Fails the build for a package that is not installed, as after a pull without `npm ci`. The bundler would leave its import
 * in the output, where nothing finds it.
 */
const bundlesEverything: Rolldown.Plugin = {
  name: 'bundles-everything',
  generateBundle(_options, bundle) {
    for (const output of Object.values(bundle)) {
      if (output.type !== 'chunk') continue
      const missing = [...output.imports, ...output.dynamicImports].filter((id) => !(id in bundle) && !isBuiltin(id))
      if (missing.length > 0)
        this.error(`${output.fileName}: not installed: ${missing.join(', ')} (npm ci installs them)`)
    }
  },
}

/**
 * Fails the build if two files load each other, because one of them would find the other half loaded. `cli` would load
 * another one if the declaration of a command used a module of that file.
 */
const loadsNoCircle: Rolldown.Plugin = {
  name: 'loads-no-circle',
  generateBundle(_options, bundle) {
    const importsOf = (file: string): readonly string[] =>
      (bundle[file] as { imports?: string[] } | undefined)?.imports ?? []
    for (const file of Object.keys(bundle)) {
      const other = importsOf(file).find((imported) => importsOf(imported).includes(file))
      if (other === undefined) continue
      this.error(
        `${file} and ${other} load each other. Does the declaration of a command use a module that src/cli/index.ts does not load? Use it in \`run\`, or add it to CHUNKS in tsdown.config.ts`,
      )
    }
  },
}

const source = (file: string): string => fileURLToPath(new URL(`src/cli/${file}`, import.meta.url))
const COMMAND_SENTENCES = source('../kernel/command-errors.ts')
const COMMAND_ERRORS = './command-errors.js'

/** Without that file an error still has its code and its details, and counts as an internal one. */
const LAZY_COMMAND_ERRORS = `let errors
const load = () => {
  try {
    errors ??= require('${COMMAND_ERRORS}')
  } catch {
    errors = { COMMAND_SENTENCES: {}, exitCodeOf: () => 70 }
  }
  return errors
}
export const COMMAND_SENTENCES = new Proxy({}, { get: (_, code) => load().COMMAND_SENTENCES[code] })
export const exitCodeOf = (code) => load().exitCodeOf(code)`

/** Loads the messages of the commands' errors with the first of them: to compile 14 kB takes 0.7 ms at each start. */
const lazyCommandErrors: Rolldown.Plugin = {
  name: 'lazy-command-errors',
  buildStart() {
    this.emitFile({ type: 'chunk', id: COMMAND_SENTENCES, fileName: basename(COMMAND_ERRORS) })
  },
  resolveId: {
    order: 'pre',
    handler(file, importer) {
      if (file === COMMAND_ERRORS) return { id: file, external: true }
      const isEager = importer !== source('main.ts') && importer !== source('../views/print.ts')
      return isEager || !file.endsWith('/command-errors.ts') ? null : '\0lazy-command-errors'
    },
  },
  load: (id) => (id === '\0lazy-command-errors' ? LAZY_COMMAND_ERRORS : null),
}

const COMMANDS = source('commands/command-list.ts')
const DECLARATION = '?declaration'

/**
 * The list of commands imports the declaration of each from the file that also does its work. Here it gets a copy of that
 * file, of which nothing but the declaration is used, so that the start of the CLI and its help load no work.
 */
const declarationsAlone: Rolldown.Plugin = {
  name: 'declarations-alone',
  resolveId: {
    order: 'pre',
    async handler(file, importer, { kind }) {
      if (importer !== COMMANDS || kind === 'dynamic-import' || dirname(file) !== '.') return null
      const found = await this.resolve(file, importer, { kind, skipSelf: true })
      return found && { id: `${found.id}${DECLARATION}`, moduleSideEffects: false }
    },
  },
  load: (id) =>
    id.endsWith(DECLARATION)
      ? { code: readFileSync(id.slice(0, -DECLARATION.length), 'utf8'), moduleType: 'ts' }
      : null,
}

/**
 * Exports what never changes as a plain property. The bundler writes a getter of 60 bytes for each, several hundred in the
 * larger files of the CLI, and makes them all at every start.
 */
const plainExports: Rolldown.Plugin = {
  name: 'plain-exports',
  renderChunk(code) {
    const getter =
      /Object\.defineProperty\(exports, (["'])([\w$]+)\1, \{\s*enumerable: true,\s*get: function \(\) \{\s*return ([\w$]+);\s*\}\s*\}\);/g
    return code.replace(getter, (whole, _quote, exported: string, name: string) => {
      const declaration = new RegExp(`^(?:const|class|(?:async )?function\\*?) ${name.replaceAll('$', '\\$')}\\b`, 'm')
      return declaration.test(code) ? `exports.${exported} = ${name};` : whole
    })
  },
}

/** The plugins of every build. */
const everywhere: readonly Rolldown.Plugin[] = [bundlesEverything, writesNotices]

/**
 * The modules that become one chunk each, together with their imports: every file takes a third of a millisecond to find
 * and open. A module that several entries import is in the first one's chunk.
 */
const CHUNKS: readonly (readonly [entry: string, chunk: string])[] = [
  [source('index.ts'), 'cli'],
  // The declarations use it.
  [source('command.ts'), 'cli'],
  [COMMAND_SENTENCES, 'cli'],
  // What says whether there are runs, and what reads no more than the definition of done.
  [source('../run/store/run-file.ts'), 'markers'],
  [source('../kernel/file-pattern.ts'), 'markers'],
  ...commandFiles('markers', ['create', 'clear', 'step']),
  [source('../done/done-finding.ts'), 'markers'],
  ...commandFiles('runs', ['workflow-next', 'workflow-status', 'workflow-control', 'workflow-history']),
]

function commandFiles(chunk: string, names: readonly string[]): [entry: string, chunk: string][] {
  return names.map((name) => [source(`commands/${name}.ts`), chunk])
}

/** Every module that `entry` loads at its start, itself included: its imports, and theirs. */
function loadedBy(entry: string, graph: Pick<Rolldown.ChunkingContext, 'getModuleInfo'>): Set<string> {
  const loaded = new Set([entry])
  for (const id of loaded) {
    if (id.endsWith(DECLARATION)) continue
    for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) loaded.add(imported)
  }
  return loaded
}

const byEntry: Rolldown.CodeSplittingGroup = {
  // The files of commands import zod for their schemas, which no command uses.
  name(id, graph) {
    if (id.includes('/zod/') || id.endsWith('/kernel/described.ts')) return 'zod'
    if (id === COMMAND_SENTENCES) return null
    return CHUNKS.find(([entry]) => loadedBy(entry, graph).has(id))?.[1] ?? null
  },
}

export default defineConfig([
  // Minified, which saves 1 ms of parsing.
  {
    ...shared,
    entry: { hook: 'src/hook/index.ts' },
    plugins: [plainBuiltins, bundlesBeside, saysCommonJs, ...everywhere],
    minify: true,
  },
  // The hook loads it only where a workflow runs.
  { ...shared, entry: { workflow: 'src/hook/workflow.ts' }, plugins: [plainBuiltins, ...everywhere], minify: true },
  // The hook loads it only where there is a definition of done.
  { ...shared, entry: { 'done-hook': 'src/stop/done-part.ts' }, plugins: [plainBuiltins, ...everywhere], minify: true },
  // OpenCode loads plugins as ES modules, whatever `package.json` says.
  {
    ...shared,
    entry: { 'postflight-guard': 'src/opencode/index.ts', hooks: 'src/opencode-hooks/index.ts' },
    format: 'esm',
    plugins: [...everywhere],
    minify: true,
    dts: true,
    outDir: `${output}/opencode`,
    outExtensions: () => ({ js: '.mjs', dts: '.d.mts' }),
    outputOptions: { chunkFileNames: '[name].mjs' },
  },
  {
    ...shared,
    entry: { cli: 'src/cli/index.ts' },
    outDir: `${output}/cli`,
    plugins: [
      plainBuiltins,
      lazyChildProcess,
      lazyCommandErrors,
      declarationsAlone,
      plainExports,
      loadsNoCircle,
      ...everywhere,
    ],
    // Only what is used counts: schemas and the work of other commands are imported and not used.
    treeshake: { moduleSideEffects: false },
    minify: true,
    outputOptions: {
      chunkFileNames: '[name].js',
      codeSplitting: { groups: [byEntry], includeDependenciesRecursively: false },
    },
  },
])
