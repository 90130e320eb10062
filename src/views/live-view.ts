import { messageOf } from '../kernel/error-messages.ts'
import { counted, quote } from '../kernel/text.ts'
import type { CommandResult } from '../project/command-context.ts'
import { fill, type Output, type Painter, printable, type Size } from './print.ts'

/** Keeps a command's result on the screen until `q` or Ctrl-C. */

const INTERVAL_MS = 500

export interface View {
  readonly title: string
  readonly inspect: () => CommandResult
  /** Whether it is final: then the last frame stays. */
  readonly isOver?: (result: CommandResult) => boolean
  readonly paint: Painter
  readonly clock: () => string
}

/** A later failure is shown, because it may pass. */
export async function watchView(view: View, stdout: Output): Promise<0 | 1> {
  let result = view.inspect()
  if (view.isOver?.(result) !== true) {
    const screen = openLiveScreen(stdout)
    try {
      let changedAt = view.clock()
      let shown = result.lines
      do {
        result = readAgain(view, result)
        if (withoutTimes(result.lines) !== withoutTimes(shown)) changedAt = view.clock()
        shown = result.lines
        const picture = {
          head: view.paint.bold(printable(view.title, true)),
          lines: shown.map((line) => printable(line, true)),
          foot: view.paint.dim(WATCH_TEXT.foot(changedAt)),
          more: WATCH_TEXT.more,
        }
        if (!screen.paint(fill(screen.size(), picture)) || view.isOver?.(result) === true) break
      } while (await screen.pause(INTERVAL_MS))
    } finally {
      screen.close()
    }
    if (view.isOver?.(result) !== true) return 0
  }
  stdout.write(`${printable(result.lines.join('\n'), true)}\n`)
  return result.exitCode
}

/** A higher age or duration is not a change. */
function withoutTimes(lines: readonly string[]): string {
  return lines.join('\n').replace(/\d+ (?:s|min|h|days)\b/g, '')
}

function readAgain({ inspect, paint }: View, before: CommandResult): CommandResult {
  try {
    return inspect()
  } catch (error) {
    return { ...before, lines: [`${paint.red('✗')} ${messageOf(error)}`] }
  }
}

interface LiveScreen {
  readonly size: () => Size
  /** Returns false if the terminal is gone. */
  readonly paint: (rows: readonly string[]) => boolean
  /** Returns false if `q` or Ctrl-C was pressed. */
  readonly pause: (ms: number) => Promise<boolean>
  readonly close: () => void
}

/** The alternate screen, an invisible cursor, and no wrapping. */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J'
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l'
/** Terminals that know these show the text between them at once. */
const [BEGIN, END] = ['\u001b[?2026h', '\u001b[?2026l']

const QUIT = /[qQ\u0003\u0004]/
const SUSPEND = '\u001a'

const USUAL_SIZE: Size = { columns: 80, rows: 24 }

const ENDING_SIGNALS = ['SIGTERM', 'SIGHUP'] as const

function openLiveScreen(output: Output): LiveScreen {
  const { stdin, stdout } = process
  let painted: readonly string[] = []
  let wake: () => void = () => {}
  let isOver = false

  const enter = (): void => {
    painted = []
    output.write(ENTER)
    if (stdin.isTTY) stdin.setRawMode(true).resume()
  }
  const leave = (): void => {
    output.write(LEAVE)
    if (stdin.isTTY) stdin.setRawMode(false).pause()
  }
  const quit = (): void => {
    isOver = true
    wake()
  }
  const repaint = (): void => {
    painted = []
    output.write('\u001b[2J')
    wake()
  }
  const typed = (keys: Buffer): void => {
    const text = keys.toString('latin1')
    if (QUIT.test(text)) quit()
    else if (text.includes(SUSPEND) && process.platform !== 'win32') {
      leave()
      process.kill(process.pid, 'SIGTSTP')
    }
  }
  const continued = (): void => {
    enter()
    wake()
  }
  const ended = (signal: NodeJS.Signals): void => {
    close()
    process.kill(process.pid, signal)
  }
  const close = (): void => {
    for (const signal of ENDING_SIGNALS) process.off(signal, ended)
    process.off('SIGINT', quit).off('SIGCONT', continued).off('exit', leave)
    stdin.off('data', typed)
    stdout.off('resize', repaint)
    leave()
  }

  for (const signal of ENDING_SIGNALS) process.on(signal, ended)
  process.on('SIGINT', quit).on('SIGCONT', continued).on('exit', leave)
  stdout.on('resize', repaint)
  if (stdin.isTTY) stdin.on('data', typed)
  enter()

  return {
    size: () => ({ columns: stdout.columns || USUAL_SIZE.columns, rows: stdout.rows || USUAL_SIZE.rows }),
    paint(rows) {
      // log-update 7.2.0 repaints every row between the first and the last change, and needs a row of its own.
      // The rest of a row is erased first: after a row that fills the line, that would erase its last character.
      const changes = rows.flatMap((row, index) =>
        row === painted[index]
          ? []
          : [`\u001b[${index + 1};1H\u001b[K${row}${row.includes('\u001b') ? '\u001b[0m' : ''}`],
      )
      const isShorter = rows.length < painted.length
      painted = rows
      if (changes.length === 0 && !isShorter) return true
      return (
        output.write(`${BEGIN}${changes.join('')}${isShorter ? `\u001b[${rows.length + 1};1H\u001b[J` : ''}${END}`) !==
        false
      )
    },
    async pause(ms) {
      if (!isOver) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      return !isOver
    },
    close,
  }
}

export const WATCH_TEXT = {
  title: (command: string, root: string | undefined): string =>
    `postflight ${command}${root === undefined ? '' : `  ${quote(root, 200)}`}`,
  foot: (changedAt: string): string => `last change ${changedAt} · q quits`,
  waits: (task: string | undefined): string =>
    task === undefined
      ? 'no workflows here yet'
      : `no workflow of task ${quote(task, 80)} yet: waiting until it starts`,
  more: (count: number): string => `… ${counted(count, 'more row')}: make the window taller`,
  notATerminal: 'postflight: --watch needs a terminal, so this was printed once',
} as const
