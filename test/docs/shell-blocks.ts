/** Runs the blocks of shell of a page, and compares what they print with what the page shows. */

import { commandFaults } from './command-lines.ts'
import type { Block, Page } from './pages.ts'
import { createWorkshop, hasProgram, type Workshop } from './workshop.ts'

const SEPARATOR = '\u001e'

/**
 * Commands before every block but the first, on pages without comments: an agent reads the whole of a skill.
 */
const BEFORE: Readonly<Record<string, readonly string[]>> = {
  'plugin/skills/postflight/SKILL.md': ['postflight create 259 a_slug --agent main --step "update status"'],
}

/** A block that is not run, or not with everything in it, and why. */
export interface Unrun {
  readonly line: number
  readonly reason: string
}

/** True for a block that is run, or would be. */
export function isShell({ language }: Block): boolean {
  return ['bash', 'sh', 'shell', 'console', 'zsh', 'fish'].includes(language)
}

/** Blocks that run one after the other in one project. */
export function sessionsOf(page: Page): Block[][] {
  const sessions: Block[][] = []
  for (const block of page.blocks.filter((one) => isShell(one) || one.directions.outputOf !== undefined)) {
    if (block.directions.continues) sessions.at(-1)?.push(block)
    else sessions.push([block])
  }
  return sessions
}

/** What is wrong with the blocks of a session. Blocks that are not run are added to `unrun`. */
export async function sessionFaults(page: Page, session: readonly Block[], unrun: Unrun[]): Promise<string[]> {
  let workshop: Workshop | undefined
  const faults: string[] = []
  for (const block of session) {
    const reason = block.directions.notRun ?? missingProgram(block)
    if (reason !== undefined) {
      unrun.push({ line: block.line, reason })
      faults.push(...(await commandFaults(block.text)).map((fault) => `${page.name}:${block.line}: ${fault}`))
      continue
    }
    workshop ??= createWorkshop()
    for (const file of page.blocks.filter((one) => one.directions.file !== undefined && one.line < block.line)) {
      workshop.project.write(file.directions.file as string, `${file.text}\n`)
    }
    const before = block === page.blocks[0] ? [] : (BEFORE[page.name] ?? [])
    const { standIns } = block.directions
    for (const program of standIns) workshop.standIn(program)
    if (standIns.length > 0) unrun.push({ line: block.line, reason: `run with a stand-in for ${standIns.join(', ')}` })
    const fault = await (shownOutput(block) === undefined
      ? scriptFault(block, workshop, before)
      : outputFault(block, workshop))
    if (fault !== undefined) faults.push(`${page.name}:${block.line}: ${fault}`)
  }
  return faults
}

function missingProgram({ text, directions }: Block): string | undefined {
  const needed = ['jq'].filter((name) => new RegExp(`\\b${name}\\b`).test(text) && !directions.standIns.includes(name))
  const missing = needed.find((name) => !hasProgram(name))
  return missing === undefined ? undefined : `this machine has no ${missing}`
}

/** The commands that a block shows with their output; undefined for a plain script. */
function shownOutput(block: Block): { command: string; output: string }[] | undefined {
  if (block.directions.outputOf !== undefined) return [{ command: block.directions.outputOf, output: block.text }]
  if (block.language !== 'console') return undefined
  return block.text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', output = ''] = /^((?:.*\\\n)*.*)\n?([\s\S]*)$/.exec(part)?.slice(1) ?? []
      return { command, output: output.trimEnd() }
    })
}

/** Everything before the block in its script. A command that fails says in which line it stands. */
function prologue({ directions }: Block, before: readonly string[] = []): string {
  return ['set -eE -o pipefail', ...before, ...directions.before, ''].join('\n')
}

async function scriptFault(block: Block, workshop: Workshop, before: readonly string[]): Promise<string | undefined> {
  const { exits } = block.directions
  const start = prologue(block, before)
  const shift = start.split('\n').length - 1
  const trap = `trap 'echo "${SEPARATOR}$LINENO${SEPARATOR}" >&2' ERR; `
  const ran = await workshop.run(`${trap}${start}${block.text}\n`)
  const failedAt = Number(new RegExp(`${SEPARATOR}(\\d+)${SEPARATOR}\n`).exec(ran.stderr)?.[1] ?? 0) - shift
  const printed = endOf(`${ran.stdout}${ran.stderr}`.replace(new RegExp(`${SEPARATOR}\\d+${SEPARATOR}\n`, 'g'), ''))
  if (ran.status !== exits) {
    const where = failedAt > 0 ? ` in line ${block.line + failedAt}` : ''
    return `exit code ${ran.status}${where}, expected ${exits}\n${printed}`
  }
  if (exits !== 0 && failedAt < lastCommandLine(block.text)) {
    return `exit code ${exits} in line ${block.line + failedAt}, before the last command\n${printed}`
  }
  return undefined
}

function endOf(output: string): string {
  return output.trimEnd().split('\n').slice(-15).join('\n')
}

/** The number of the line, from 1, in which the last command of a script begins. */
function lastCommandLine(script: string): number {
  const lines = script.split('\n')
  let last = lines.findLastIndex((line) => line.trim() !== '' && !line.trim().startsWith('#'))
  while (lines[last - 1]?.endsWith('\\') === true) last -= 1
  return last + 1
}

async function outputFault(block: Block, workshop: Workshop): Promise<string | undefined> {
  const shown = shownOutput(block) ?? []
  if (shown.length === 0) return 'a console block has lines that begin with "$ "'
  const commands = shown.map(({ command }) => `printf '${SEPARATOR}'\n${command}`)
  const ran = await workshop.run(`{\n${prologue(block)}} >&2\nexec 2>&1\n${commands.join('\n')}\n`)
  const [before = '', ...printed] = ran.stdout.split(SEPARATOR)
  if (ran.status !== block.directions.exits) {
    return `exit code ${ran.status}, expected ${block.directions.exits}\n${ran.stderr}${before}${printed.at(-1) ?? ''}`
  }
  for (const [index, { command, output }] of shown.entries()) {
    const real = (printed[index] ?? '').trimEnd()
    if (!patternOf(output).test(`${real}\n`)) return `"${command}" printed\n${real}\nbut the page shows\n${output}`
  }
  return undefined
}

/** Matches what a page shows: a line of `…` alone stands for any lines, and `…` in a line for any text. */
function patternOf(shown: string): RegExp {
  const lines = shown.split('\n').map((line) => {
    if (line.trim() === '…') return '(?:[^\\n]*\\n)*?'
    const escaped = line.trimEnd().replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    return `${escaped.replaceAll('…', '[^\\n]*')}[ ]*\\n`
  })
  return new RegExp(`^${lines.join('')}$`)
}
