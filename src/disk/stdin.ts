import fs from 'node:fs'
import { STDIN_DETAILS } from '../kernel/error-messages.ts'
import { attempt, parseJson } from '../kernel/values.ts'
import { processAgeMs, sleepSync } from './age.ts'
import { errorCode } from './file-facts.ts'

/** The hook judges markers until it is 3.5 s old: on a busy machine it needs a second of them. */
const STDIN_PATIENCE_MS = 2_500

const STDIN_MAX_BYTES = 33_554_432

/** Bytes. Parsing a longer text after each chunk is slow, so we try that at most `MAX_LONG_PARSES` times. */
const EARLY_LIMIT = 262_144
const MAX_LONG_PARSES = 16

export type StdinRead =
  | { readonly kind: 'text'; readonly text: string }
  /** With a detail if it stayed open. */
  | { readonly kind: 'nothing'; readonly detail?: string }
  | { readonly kind: 'failed'; readonly detail: string }

/** Stops after a JSON object too: some hosts keep the pipe open. Never rejects. */
export async function readStdin(patienceMs: number = STDIN_PATIENCE_MS): Promise<StdinRead> {
  const collected = new Collected()
  // Node takes 4 ms to make the stream.
  return readDirectly(collected, patienceMs) ?? readStream(process.stdin, collected, patienceMs)
}

class Collected {
  readonly #chunks: Buffer[] = []
  #length = 0
  #longParses = 0

  add(chunk: Buffer): StdinRead | undefined {
    this.#chunks.push(chunk)
    this.#length += chunk.length
    if (this.#length > STDIN_MAX_BYTES) return { kind: 'failed', detail: STDIN_DETAILS.tooLong(STDIN_MAX_BYTES) }
    const endsWithBrace = chunk.toString('latin1').trimEnd().endsWith('}')
    if (!endsWithBrace || (this.#length > EARLY_LIMIT && this.#longParses++ >= MAX_LONG_PARSES)) return undefined
    return 'value' in parseJson(this.#text()) ? this.ended() : undefined
  }

  ended(): StdinRead {
    return this.#length === 0 ? { kind: 'nothing' } : { kind: 'text', text: this.#text() }
  }

  timedOut(patienceMs: number): StdinRead {
    return { kind: this.#length === 0 ? 'nothing' : 'failed', detail: STDIN_DETAILS.noEnd(patienceMs) }
  }

  #text(): string {
    return Buffer.concat(this.#chunks).toString('utf8')
  }
}

/**
 * Node's streams take 4 ms to load. Reopens a Linux pipe as non-blocking: reading one that the host keeps open would
 * never return. Claude Code 2.1.329 passes a socket.
 */
function readDirectly(collected: Collected, patienceMs: number): StdinRead | undefined {
  const source = openDirectly()
  if (source === undefined) return undefined
  const deadline = processAgeMs() + patienceMs
  for (;;) {
    const buffer = Buffer.allocUnsafe(65_536)
    try {
      const count = fs.readSync(source, buffer, 0, buffer.length, null)
      if (count === 0) return collected.ended()
      const result = collected.add(buffer.subarray(0, count))
      if (result !== undefined) return result
    } catch (error) {
      // EINTR: a signal interrupted the read.
      if (!['EAGAIN', 'EINTR'].includes(errorCode(error))) return { kind: 'failed', detail: errorCode(error) }
      if (processAgeMs() >= deadline) return collected.timedOut(patienceMs)
      sleepSync(1)
    }
  }
}

function openDirectly(): number | undefined {
  const stats = attempt(() => fs.fstatSync(0))
  if (stats?.isFile()) return 0
  if (!stats?.isFIFO() || process.platform !== 'linux') return undefined
  return attempt(() => fs.openSync('/proc/self/fd/0', fs.constants.O_RDONLY | fs.constants.O_NONBLOCK))
}

function readStream(stdin: NodeJS.ReadStream, collected: Collected, patienceMs: number): Promise<StdinRead> {
  if (stdin.isTTY) return Promise.resolve({ kind: 'nothing' })
  return new Promise((resolve) => {
    const finish = (result: StdinRead): void => {
      clearTimeout(timer)
      stdin.removeAllListeners()
      // A late error on the stream must not end the process.
      stdin.on('error', () => {})
      // Lets the process end although the host keeps stdin open.
      stdin.destroy()
      resolve(result)
    }
    const timer = setTimeout(() => finish(collected.timedOut(patienceMs)), patienceMs)
    stdin.on('data', (chunk: Buffer) => {
      const result = collected.add(chunk)
      if (result !== undefined) finish(result)
    })
    stdin.on('end', () => finish(collected.ended()))
    stdin.on('error', (error) => finish({ kind: 'failed', detail: error.message }))
  })
}
