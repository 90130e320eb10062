import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { claudeEntries } from '../src/hosts/hook-entries.ts'
import { addEntries, isOurHook } from '../src/setup/claude-hooks.ts'

/**
 * Lays out the plugin for Claude Code: one folder that holds everything it runs, because a marketplace copies it without
 * `npm install`. It works as a folder (`--plugin-dir`), as a directory marketplace, and as a git marketplace once it is
 * committed as the top of a repository.
 */

/** The command of the plugin's hooks. By `sh`, because some archives lose the right to execute. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: Claude Code replaces it.
const HOOK_COMMAND = 'sh "${CLAUDE_PLUGIN_ROOT}/hooks/postflight-hook"'

/**
 * The files that are copied from the package, by their places in the plugin. Every file in `bin/` is a command of the
 * agent's shell.
 */
const COPIED: Readonly<Record<string, string>> = {
  'bin/postflight': 'bin/postflight.js',
  commands: 'plugin/commands',
  'dist/cli': 'dist/cli',
  'dist/hook.js': 'dist/hook.js',
  'dist/package.json': 'dist/package.json',
  'dist/workflow.js': 'dist/workflow.js',
  'dist/done-hook.js': 'dist/done-hook.js',
  examples: 'examples',
  'hooks/postflight-hook': 'hooks/postflight-hook',
  LICENSE: 'LICENSE',
  'README.md': 'plugin/README.md',
  skills: 'plugin/skills',
  'THIRD-PARTY-NOTICES': 'THIRD-PARTY-NOTICES',
}

const EXECUTABLE = ['bin/postflight', 'hooks/postflight-hook']

/** The part of `package.json` that the plugin repeats. */
interface Manifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly keywords: readonly string[]
  readonly license: string
  readonly author: string
  /** Filled in by scripts/repository.js. */
  readonly homepage?: string
  readonly repository?: { readonly url: string }
  readonly engines: Readonly<Record<string, string>>
}

/** Replaces the folder `target` by the plugin, made from the built package in `packageFolder`. */
export function layOutPlugin(packageFolder: string, target: string): void {
  const manifest = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as Manifest
  rmSync(target, { recursive: true, force: true })
  for (const [place, source] of Object.entries(COPIED)) {
    cpSync(join(packageFolder, source), join(target, place), { recursive: true })
  }
  for (const [place, text] of Object.entries(writtenFiles(manifest))) {
    mkdirSync(dirname(join(target, place)), { recursive: true })
    writeFileSync(join(target, place), text)
  }
  for (const place of EXECUTABLE) chmodSync(join(target, place), 0o755)
}

/** The files that only the plugin has, by their place in it. */
function writtenFiles({ name, version, description, keywords, license, author, engines, ...source }: Manifest) {
  const links = { homepage: source.homepage, repository: source.repository?.url.replace(/^git\+/, '') }
  const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`
  return {
    '.claude-plugin/plugin.json': json({
      name,
      version,
      description,
      author: { name: author },
      license,
      keywords,
      ...links,
    }),
    '.claude-plugin/marketplace.json': json({
      name,
      owner: { name: author },
      description,
      plugins: [{ name, source: './', description }],
    }),
    // Line ends of Windows would break the launcher.
    '.gitattributes': '* text=auto eol=lf\n',
    // A repository that ignores `dist/` or `bin/` would commit a plugin without them.
    '.gitignore': '!*\n',
    'hooks/hooks.json': addEntries('{}\n', claudeEntries(HOOK_COMMAND), { file: 'hooks/hooks.json' }, isOurHook),
    // The CLI reads its version here. Without `type`, the files in bin/ are CommonJS.
    'package.json': json({ name, version, private: true, license, engines }),
  }
}
