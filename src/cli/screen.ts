import type { Output } from './report.ts'

/** Where a command prints that goes on until somebody ends it: `logs --follow`, `workflow status --watch`. */

/** Such a place. */
export interface Screen {
  /** True for a terminal, where a picture is painted over the last one. */
  readonly isPainted: boolean
  /** Prints; false when nobody reads any more. */
  readonly print: (text: string) => boolean
  /** Waits for a while; false when it was stopped meanwhile. */
  readonly pause: (ms: number) => Promise<boolean>
}

/** The top of an empty screen. */
const CLEAR = '\u001b[H\u001b[2J'

/** The screen of a process, which Ctrl-C stops: the way in which such a command ends well. */
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

/** A picture: over the last one on a terminal, below it elsewhere. */
export function paintPicture(screen: Screen, lines: readonly string[], isFirst: boolean): boolean {
  const text = `${lines.join('\n')}\n`
  return screen.print(screen.isPainted ? `${CLEAR}${text}` : isFirst ? text : `\n${text}`)
}
