import { sleep } from '../disk/age.ts'
import { quote } from '../kernel/text.ts'
import type { Painter } from '../project/command-context.ts'
import { type Output, printable, wrap } from './print.ts'

/** Fills a whole screen. Says how many lines do not fit. */
export function frame(
  { columns, rows }: Readonly<Record<'columns' | 'rows', number>>,
  { command, root, paint }: { readonly command: string; readonly root: string | undefined; readonly paint: Painter },
  lines: readonly string[],
  changedAt: string,
): string[] {
  const head = `postflight ${command}${root === undefined ? '' : `  ${quote(root, 200)}`}`
  const top = [...wrap(paint.bold(printable(head, true)), columns), '']
  const bottom = wrap(paint.dim(`last change ${changedAt} · q quits`), columns)
  const room = Math.max(1, rows - top.length - bottom.length)
  // A folder's name in a command may have a line break.
  const text = printable(lines.join('\n'), true)
  const body = text.split('\n').flatMap((line) => wrap(line, columns))
  const hidden = body.length - room
  const more = wrap(`… ${hidden + 1} more rows: make the window taller`, columns).slice(0, 1)
  const shown = hidden <= 0 ? body : [...body.slice(0, room - 1), ...more]
  const blank = Array.from({ length: Math.max(0, room - shown.length) }, () => '')
  return [...top, ...shown, ...blank, ...bottom].slice(0, rows)
}

/** The alternate screen, an invisible cursor, and no wrapping. */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J'
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l'
/** Terminals that support these show all of the text between them at the same time. */
const [BEGIN, END] = ['\u001b[?2026h', '\u001b[?2026l']

const QUIT = /[qQ\u0003\u0004]/
const SUSPEND = '\u001a'

const ENDING_SIGNALS = ['SIGTERM', 'SIGHUP'] as const

export function openLiveScreen(output: Output) {
  const { stdin, stdout } = process
  let painted: readonly string[] = []
  let wake: () => void = () => {}
  let isOver = false

  const enter = (): boolean => {
    painted = []
    if (output.write(ENTER) === false) return false
    if (stdin.isTTY) stdin.setRawMode(true).resume()
    return true
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
    // The whole job, as the terminal does: a shell waits for `npx`.
    else if (text.includes(SUSPEND) && process.platform !== 'win32') process.kill(0, 'SIGTSTP')
  }
  const suspend = (): void => {
    leave()
    // `once` has removed the listener. Without job control this does nothing.
    process.kill(process.pid, 'SIGTSTP')
    process.once('SIGTSTP', suspend)
    continued()
  }
  const continued = (): void => {
    // A terminal that was closed continues its jobs too.
    if (!enter()) return
    // Only the terminal's current job is told of a new size: this makes Node read it.
    process.kill(process.pid, 'SIGWINCH')
    wake()
  }
  const ended = (signal: NodeJS.Signals): void => {
    close()
    process.kill(process.pid, signal)
  }
  const close = (): void => {
    for (const signal of ENDING_SIGNALS) process.off(signal, ended)
    process.off('SIGINT', quit).off('SIGTSTP', suspend).off('SIGCONT', continued).off('exit', leave)
    stdin.off('data', typed)
    stdout.off('resize', repaint)
    leave()
  }

  for (const signal of ENDING_SIGNALS) process.on(signal, ended)
  process.on('SIGINT', quit).once('SIGTSTP', suspend).on('SIGCONT', continued).on('exit', leave)
  stdout.on('resize', repaint)
  if (stdin.isTTY) stdin.on('data', typed)
  enter()

  return {
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    /**
     * Returns false if the terminal is gone. log-update 7.2.0 erases all rows between two that changed first, which
     * flickers, and loses the last character of a row that fills the line.
     */
    paint(rows: readonly string[]): boolean {
      // The rest of a row is erased first: after a row that fills the line, that would erase its last character.
      const changes = rows.flatMap((row, index) =>
        row === painted[index]
          ? []
          : [`\u001b[${index + 1};1H\u001b[K${row}${row.includes('\u001b') ? '\u001b[0m' : ''}`],
      )
      painted = rows
      return changes.length === 0 || output.write(`${BEGIN}${changes.join('')}${END}`) !== false
    },
    /** Returns false if `q` or Ctrl-C was pressed. */
    async pause(ms: number): Promise<boolean> {
      if (!isOver) {
        const woken = new AbortController()
        wake = () => woken.abort()
        await sleep(ms, woken.signal)
      }
      return !isOver
    },
    close,
  }
}
