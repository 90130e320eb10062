import type { Output } from './print.ts'

/** Colours for the lines that people read. */

/** The ways to highlight a word. */
export interface Painter {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly green: (text: string) => string
  readonly yellow: (text: string) => string
  readonly red: (text: string) => string
}

const plain = (text: string): string => text
const NO_COLOURS: Painter = { bold: plain, dim: plain, green: plain, yellow: plain, red: plain }

/** Colours on a terminal without NO_COLOR; none otherwise. The library is loaded only where it is needed. */
export async function painterFor(output: Pick<Output, 'isTTY'>, noColor: string | undefined): Promise<Painter> {
  if (noColor || output.isTTY !== true) return NO_COLOURS
  return (await import('picocolors')).default.createColors(true)
}
