/** Reading a payload from stdin, whatever stdin does. */

/** The hook must answer within 5 s whatever its stdin does; after this (ms) it goes on with what it has. */
export const STDIN_PATIENCE_MS = 3_000

/** A payload longer than this (bytes) is not read to its end. */
export const STDIN_MAX_BYTES = 33_554_432

/** Trying to parse early costs; a text longer than this (characters) is waited for to its end. */
const EARLY_LIMIT = 262_144

/** What came of reading stdin. */
export type StdinRead =
  | { readonly kind: 'text'; readonly text: string }
  /** Nothing was ever sent: a terminal, a closed pipe, or a pipe that stays open and silent. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'failed'; readonly detail: string }

/**
 * Reads stdin to its end, to a whole JSON object (some hosts keep the pipe open), or until patience or size run out.
 * Never rejects.
 */
export function readStdin(
  stdin: NodeJS.ReadStream,
  patienceMs = STDIN_PATIENCE_MS,
  maxBytes = STDIN_MAX_BYTES,
): Promise<StdinRead> {
  if (stdin.isTTY) return Promise.resolve({ kind: 'nothing' })
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let length = 0
    const text = (): string => Buffer.concat(chunks).toString('utf8')
    const finish = (result: StdinRead): void => {
      clearTimeout(timer)
      stdin.pause()
      stdin.removeAllListeners()
      // A late error of a stream that nobody reads any more must not end the process.
      stdin.on('error', () => {})
      resolve(result)
    }
    const timer = setTimeout(() => {
      finish(length === 0 ? { kind: 'nothing' } : { kind: 'failed', detail: `no end after ${patienceMs} ms` })
    }, patienceMs)
    stdin.on('data', (chunk: Buffer | string) => {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      chunks.push(bytes)
      length += bytes.length
      if (length > maxBytes) finish({ kind: 'failed', detail: `longer than ${maxBytes} bytes` })
      else if (length <= EARLY_LIMIT && endsWithBrace(bytes) && isWhole(text())) finish({ kind: 'text', text: text() })
    })
    stdin.on('end', () => finish(length === 0 ? { kind: 'nothing' } : { kind: 'text', text: text() }))
    stdin.on('error', (error) => finish({ kind: 'failed', detail: error.message }))
  })
}

function endsWithBrace(bytes: Buffer): boolean {
  let index = bytes.length - 1
  while (index >= 0 && /\s/.test(String.fromCharCode(bytes[index] as number))) index -= 1
  return bytes[index] === 0x7d
}

function isWhole(text: string): boolean {
  try {
    JSON.parse(text.replace(/^\ufeff/, ''))
    return true
  } catch {
    return false
  }
}
