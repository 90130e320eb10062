import type { Output } from './report.ts'

/** The output of commands that run until they are stopped: `logs --follow`, `workflow status --watch`. */

/** Output that may be repainted. */
export interface Screen {
  /** True for a terminal, where each picture replaces the last one. */
  readonly isPainted: boolean
  /** Prints. Returns false when the reader is gone. */
  readonly print: (text: string) => boolean
  /** Waits. Returns false when Ctrl-C was pressed meanwhile. */
  readonly pause: (ms: number) => Promise<boolean>
}

/** Clears the screen and moves to its top. */
const CLEAR = '\u001b[H\u001b[2J'

/** The screen of this process. Ctrl-C is the normal end of such a command. */
export function processScreen(output: Output, terminal: string | undefined): Screen {
  const stopped = new Promise<false>((resolve) => process.once('SIGINT', () => resolve(false)))
  return {
    isPainted: output.isTTY === true && terminal !== 'dumb',
    print: (text) => output.write(text) !== false,
    async pause(ms) {
      let timer: NodeJS.Timeout | undefined
      const passed = new Promise<true>((resolve) => {
        timer = setTimeout(() => resolve(true), ms)
      })
      const goesOn = await Promise.race([stopped, passed])
      clearTimeout(timer)
      return goesOn
    },
  }
}

/** Prints a picture: in place of the last one on a terminal, below it elsewhere. */
export function paintPicture(screen: Screen, lines: readonly string[], isFirst: boolean): boolean {
  const text = `${lines.join('\n')}\n`
  return screen.print(screen.isPainted ? `${CLEAR}${text}` : isFirst ? text : `\n${text}`)
}
