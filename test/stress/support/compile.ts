/**
 * Translates the sources into files that plain Node runs. Worker threads and preloads start without the test runner's
 * loader, and Node 20 does not read TypeScript, so `src/` and this folder are translated, file by file, into a temporary
 * folder.
 */

import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { PACKAGE } from '../../support/process.ts'

export type Compiled = ReturnType<typeof compile>

/**
 * Translates the files that are loaded into processes of the built files, for `node --require`: with `--import` a process
 * takes 60 ms more of the processor (Node 20.20), which is more than the hook itself.
 */
export function compilePreload(): Compiled {
  return compile(['test/stress/support'], 'commonjs')
}

export function compileSources(): Compiled {
  return compile(['src', 'test/stress/support', 'test/support'], 'module')
}

type ModuleKind = 'commonjs' | 'module'

function compile(folders: readonly string[], type: ModuleKind) {
  const folder = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'postflight-compiled-')))
  fs.writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ type, version: '0.0.0' })}\n`)
  fs.symlinkSync(join(PACKAGE, 'node_modules'), join(folder, 'node_modules'))
  for (const base of folders) {
    for (const name of fs.readdirSync(join(PACKAGE, base), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts') || name.endsWith('.test.ts')) continue
      const target = join(folder, base, name.replace(/\.ts$/, '.js'))
      fs.mkdirSync(dirname(target), { recursive: true })
      // It requires bundles, of which the sources have none (test/support/loaders.ts).
      const text = name.endsWith('load-parts.ts')
        ? "export * from '../../test/support/loaders.ts'"
        : fs.readFileSync(join(PACKAGE, base, name), 'utf8')
      fs.writeFileSync(target, translate(text, type))
    }
  }
  return {
    folder,
    support: (name: string) => join(folder, 'test/stress/support', name),
    remove: () => fs.rmSync(folder, { recursive: true, force: true }),
  }
}

function translate(text: string, type: ModuleKind): string {
  return ts.transpileModule(text, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      ...(type === 'module'
        ? { module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true }
        : { module: ts.ModuleKind.CommonJS, esModuleInterop: true }),
      rewriteRelativeImportExtensions: true,
    },
  }).outputText
}
