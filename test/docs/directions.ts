/**
 * Reads the comment above a block of code, which says how the block is checked: `<!-- docs: KEY: VALUE -->`, or one key
 * a line. test/README.md lists the keys.
 */

export interface Directions {
  readonly notRun?: string
  readonly onlyParsed?: string
  /** Commands that run before the block, in the same shell. */
  readonly before: readonly string[]
  /** True for a block that runs in the project of the block before it. */
  readonly continues: boolean
  readonly exits: number
  readonly standIns: readonly string[]
  /** The file that the block shows; later blocks of the page find it in their project. */
  readonly file?: string
  /** The schema of the data: a file of schema/, without its ending. */
  readonly schema?: string
  readonly outputOf?: string
  readonly faults: readonly string[]
}

const COMMENT = /^<!--\s*docs:([\s\S]*?)-->$/

/** The directions of a comment. Any other text has none. */
export function readDirections(comment: string): Directions {
  const found: Record<string, unknown> = {}
  const before: string[] = []
  const faults: string[] = []
  const lines = (COMMENT.exec(comment.trim())?.[1] ?? '').split('\n').map((line) => line.trim())
  for (const line of lines.filter((text) => text !== '')) {
    const [, key = '', value = ''] = /^([a-z -]+?)(?::\s+(.*))?$/.exec(line) ?? []
    if (key === 'continues' && value === '') found.continues = true
    else if (value === '') faults.push(`"${line}" is not a direction (see test/README.md)`)
    else if (key === 'before') before.push(value)
    else if (key === 'exits') found.exits = Number(value)
    else if (key === 'stand-in') found.standIns = value.split(/\s+/)
    else if (key === 'not run') found.notRun = value
    else if (key === 'only parsed') found.onlyParsed = value
    else if (key === 'output of') found.outputOf = value
    else if (key === 'file' || key === 'schema') found[key] = value
    else faults.push(`unknown direction "${key}" (see test/README.md)`)
  }
  return { continues: false, exits: 0, standIns: [], ...found, before, faults }
}
