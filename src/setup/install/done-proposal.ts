import path from 'node:path'
import { kindAt } from '../../disk/file-facts.ts'
import { textIn } from '../../disk/read.ts'
import { isJsonObject } from '../../kernel/values.ts'
import { readManifest } from './our-hooks.ts'

export function proposedDone(project: string): string | undefined {
  const languages = [packageRule, pythonRule, rustRule, goRule].flatMap((propose) => propose(project) ?? [])
  // A Makefile usually calls the languages' own tools, so it counts only if there are none.
  const rules = languages.length > 0 ? languages : [makeRule(project) ?? []].flat()
  if (rules.length === 0) return undefined
  return `# If files that match \`when\` change, the agent is not done until \`check\` succeeds.\ndone:\n${rules.map(ruleText).join('')}`
}

function ruleText({ name, when, unless, check }: NonNullable<ReturnType<typeof packageRule>>): string {
  return `  - name: ${name}\n    when: ${listText(when)}\n    unless: ${listText(unless)}\n    check: ${listText(check)}\n`
}

/** JSON is valid YAML. */
function listText(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(', ')}]`
}

function packageRule(project: string) {
  const manifest = readManifest(path.join(project, 'package.json'))
  const scripts = isJsonObject(manifest.scripts) ? manifest.scripts : {}
  const tool = packageTool(project)
  const check = [
    ...(isScript(scripts.lint) ? [`${tool} run lint`] : []),
    ...(isScript(scripts.test) ? [`${ciFor(scripts.test)}${tool === 'npm' ? 'npm test' : `${tool} run test`}`] : []),
  ]
  if (check.length === 0) return undefined
  const when = ['**/*.{js,mjs,cjs,jsx,ts,mts,cts,tsx,vue,svelte}', 'package.json']
  return { name: 'JavaScript', when, unless: ['{dist,build,out,coverage}/**'], check }
}

/** Such a script never ends, also without a terminal. `ng test` watches by itself (Angular 17). */
const WATCHES = /--watch(?:All)?\b|\bng test\b|\bvitest (?:watch|dev)\b|\b(?:vitest|mocha)\b[^&|;]* -w\b/
const WATCHES_NOT = /--no-watch|--watch(?:All)?=false/

function isScript(script: unknown): script is string {
  if (typeof script !== 'string' || script.trim() === '' || script.includes('no test specified')) return false
  return WATCHES_NOT.test(script) || !WATCHES.test(script)
}

/** It watches unless CI is set (react-scripts 5.0.1, which the other two start). */
function ciFor(script: string): string {
  return /\b(?:react-scripts|craco|react-app-rewired) test\b/.test(script) ? 'CI=true ' : ''
}

export function packageTool(project: string): string {
  const tools = { 'pnpm-lock.yaml': 'pnpm', 'yarn.lock': 'yarn', 'bun.lock': 'bun', 'bun.lockb': 'bun' }
  return Object.entries(tools).find(([file]) => isFile(project, file))?.[1] ?? 'npm'
}

function pythonRule(project: string) {
  const named = ['pyproject.toml', 'setup.cfg', 'tox.ini'].some((file) =>
    textIn(path.join(project, file))?.includes('pytest'),
  )
  if (!named && !isFile(project, 'pytest.ini')) return undefined
  const starter = isFile(project, 'uv.lock') ? 'uv run ' : isFile(project, 'poetry.lock') ? 'poetry run ' : ''
  return {
    name: 'Python',
    when: ['**/*.py', 'pyproject.toml'],
    unless: ['{venv,build,dist}/**'],
    check: [`${starter}pytest`],
  }
}

function rustRule(project: string) {
  if (!isFile(project, 'Cargo.toml')) return undefined
  return { name: 'Rust', when: ['**/*.rs', '**/Cargo.toml'], unless: ['target/**'], check: ['cargo test'] }
}

function goRule(project: string) {
  if (!isFile(project, 'go.mod')) return undefined
  return { name: 'Go', when: ['**/*.go', 'go.mod', 'go.sum'], unless: ['vendor/**'], check: ['go test ./...'] }
}

function makeRule(project: string) {
  const text = ['GNUmakefile', 'makefile', 'Makefile'].flatMap((file) => textIn(path.join(project, file)) ?? [])[0]
  if (text === undefined || !/^test\s*:(?!=)/m.test(text)) return undefined
  return { name: 'make', when: ['**'], unless: ['{build,dist,out}/**', '**/*.md'], check: ['make test'] }
}

function isFile(project: string, name: string): boolean {
  return kindAt(path.join(project, name)) === 'file'
}
