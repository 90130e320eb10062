import { type Output, wrapped } from './print.ts'

/** The output of commands that print until they are stopped: `logs --follow`, `workflow status --watch` without a terminal. */

/** Output that goes on. */
export interface Screen {
  /** Prints. Returns false when the reader is gone. */
  readonly print: (text: string) => boolean
  /** Waits. Returns false when Ctrl-C was pressed meanwhile. */
  readonly pause: (ms: number) => Promise<boolean>
}

/** The screen of this process. Ctrl-C is the normal end of such a command. */
export function processScreen(output: Output, isJson: boolean): Screen {
  const stopped = new Promise<false>((resolve) => process.once('SIGINT', () => resolve(false)))
  return {
    print: (text) => output.write(isJson ? text : wrapped(text, output)) !== false,
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
