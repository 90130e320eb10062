/** Runs a command in a pseudo-terminal (`script` of util-linux), and reads its screen as a person would see it. */

import { spawn } from 'node:child_process'
import { outputOf } from './child-output.ts'
import { CLI, canRun } from './process.ts'
import type { Project } from './project.ts'

export const HAS_TERMINAL = canRun('command -v script && command -v stty')
export const ESCAPE = String.fromCharCode(27)

/** Without sequences, on one line. */
export function plain(output: string): string {
  return output.replace(new RegExp(`${ESCAPE}\\[[0-9;?>=]*[A-Za-z]`, 'g'), ' ').replace(/\s+/g, ' ')
}

export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

export interface TerminalCommand {
  /** Of the program that gives it the terminal. */
  readonly pid: number | undefined
  /** Everything that was written, with its sequences. */
  readonly output: () => string
  readonly type: (keys: string) => void
  readonly ended: Promise<number>
}

export function startCommandInTerminal(
  command: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
  onTestFinished: (action: () => void) => void,
): TerminalCommand {
  const child = spawn('script', ['-qefc', command, '/dev/null'], { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] })
  const output = outputOf(child)
  // Keys that arrive after its end.
  child.stdin.on('error', () => {})
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)))
  const type = (keys: string): void => void child.stdin.write(keys)
  return { pid: child.pid, output: () => output.stdout, type, ended }
}

/** Starts the CLI in a terminal of that size. A shell after it prints its exit code, and the state of the terminal. */
export function startInTerminal(
  { dir, env }: Pick<Project, 'dir' | 'env'>,
  words: string,
  size: TerminalSize,
  onTestFinished: (action: () => void) => void,
  more: Readonly<Record<string, string>> = {},
) {
  const before = `stty cols ${size.columns} rows ${size.rows}; echo "tty=$(tty) shell=$$"`
  const after = 'code=$?; stty -a | grep -q -- " -icanon" && echo raw; echo "ended=$code"; exit $code'
  const line = `sh -c '${before}; node "${CLI}" ${words}; ${after}'`
  const command = startCommandInTerminal(line, dir, { ...env, TERM: 'xterm-256color', ...more }, onTestFinished)
  const { output } = command
  let current = size
  const shell = (line: string): void => {
    spawn('sh', ['-c', line], { stdio: 'ignore' })
  }
  const named = (name: string): string => new RegExp(`${name}=(\\S+)`).exec(output())?.[1] ?? ''
  return {
    ...command,
    /** The rows of the screen now, without blanks at their ends. */
    screen: () => screenOf(output(), current).rows,
    isAlternate: () => screenOf(output(), current).isAlternate,
    isCursorVisible: () => screenOf(output(), current).isCursorVisible,
    signal: (name: string) => shell(`kill -${name} $(ps -o pid= --ppid ${named('shell')} | head -1)`),
    resize: (next: TerminalSize) => {
      current = next
      shell(`stty -F ${named('tty')} cols ${next.columns} rows ${next.rows}`)
    },
  }
}

const SEQUENCES = /\u001b\[(\??)([\d;]*)([A-Za-z])|\u001b.|\r|\n|[^\u001b\r\n]/gu

interface Screen {
  readonly rows: string[]
  readonly isAlternate: boolean
  readonly isCursorVisible: boolean
}

/** The screen after that output: cursor positions, erasing, and the alternate screen. Colours are left out. */
function screenOf(output: string, { columns, rows }: TerminalSize): Screen {
  let main: string[][] = []
  let cells: string[][] = main
  let isAlternate = false
  let isCursorVisible = true
  let [row, column] = [0, 0]
  let saved: [number, number] = [0, 0]
  const put = (character: string): void => {
    if (column === columns && !isAlternate) [row, column] = [row + 1, 0]
    if (row >= rows) return
    cells[row] ??= []
    const line = cells[row] as string[]
    while (line.length < column) line.push(' ')
    line[Math.min(column, columns - 1)] = character
    column = Math.min(column + 1, columns)
  }
  for (const [whole, isPrivate, numbers = '', letter] of output.matchAll(SEQUENCES)) {
    const [first = 0, second = 0] = numbers.split(';').map(Number)
    if (whole === '\r') column = 0
    else if (whole === '\n') row += 1
    else if (letter === undefined) {
      if (!whole.startsWith('\u001b')) put(whole)
    } else if (isPrivate === '?') {
      if (first === 1049) {
        isAlternate = letter === 'h'
        if (isAlternate) {
          main = cells
          saved = [row, column]
        } else [row, column] = saved
        cells = isAlternate ? [] : main
      }
      if (first === 25) isCursorVisible = letter === 'h'
    } else if (letter === 'H') [row, column] = [Math.max(0, first - 1), Math.max(0, second - 1)]
    else if (letter === 'K') cells[row] = (cells[row] ?? []).slice(0, column)
    else if (letter === 'J') cells = first === 2 ? [] : cells.slice(0, row)
  }
  const text = Array.from({ length: rows }, (_, at) => (cells[at] ?? []).join('').trimEnd())
  return { rows: text, isAlternate, isCursorVisible }
}
