/**
 * Passes every file-system call of a program through one function. It replaces the methods of the object that both
 * `import fs from 'node:fs'` and `require('fs')` give, so the code under test needs no change.
 */

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import path from 'node:path'

/** A call that is about to be made. */
export interface Call {
  readonly name: string
  /** The file of the call: its path, or that of its descriptor; `<stdout>` and `<stderr>`. */
  readonly file: string
  readonly args: readonly unknown[]
}

/** Handles a call: makes it with `run`, perhaps with other arguments, or does not make it. */
export type Around = (call: Call, run: (args?: readonly unknown[]) => unknown) => unknown

const METHODS = [
  'accessSync',
  'appendFileSync',
  'chmodSync',
  'chownSync',
  'closeSync',
  'copyFileSync',
  'existsSync',
  'fchmodSync',
  'fchownSync',
  'fdatasyncSync',
  'fstatSync',
  'fsyncSync',
  'ftruncateSync',
  'futimesSync',
  'lchownSync',
  'linkSync',
  'lstatSync',
  'lutimesSync',
  'mkdirSync',
  'mkdtempSync',
  'opendirSync',
  'openSync',
  'readdirSync',
  'readFileSync',
  'readlinkSync',
  'readSync',
  'realpathSync',
  'renameSync',
  'rmdirSync',
  'rmSync',
  'statSync',
  'symlinkSync',
  'truncateSync',
  'unlinkSync',
  'utimesSync',
  'writeFileSync',
  'writeSync',
  'writevSync',
] as const

type Method = (...args: unknown[]) => unknown

/** The original methods. */
export const original: Readonly<Record<string, Method>> = Object.fromEntries(
  METHODS.map((name) => [name, fs[name] as unknown as Method]),
)

/** Calls that pass through a function. */
export interface Instrumented {
  readonly end: () => void
  /** Closes the descriptors that a program left open: it was killed, or could not close them. A process has many runs. */
  readonly closeLeft: () => void
}

/**
 * Calls `around` for every call about a file below `folders`, and for writes to stdout and stderr.
 */
export function instrument(folders: readonly string[], around: Around): Instrumented {
  const files = new Map<number, string>([
    [1, '<stdout>'],
    [2, '<stderr>'],
  ])
  /** The descriptors that are really open. Those in `files` are open to the program: it may be killed while it closes one. */
  const open = new Set<number>()
  const isOurs = (file: string): boolean =>
    file.startsWith('<') || folders.some((folder) => file === folder || file.startsWith(folder + path.sep))
  const fileOf = (first: unknown): string | undefined =>
    typeof first === 'number' ? files.get(first) : typeof first === 'string' ? path.resolve(first) : undefined

  const wrap = (name: string, method: Method): Method =>
    function wrapped(this: unknown, ...args: unknown[]): unknown {
      const file = fileOf(args[0])
      const run = (other: readonly unknown[] = args): unknown => {
        const result = method.apply(this, [...other])
        if (name === 'openSync') open.add(result as number)
        if (name === 'closeSync') open.delete(args[0] as number)
        return result
      }
      if (file === undefined || !isOurs(file)) return method.apply(this, args)
      const result = around({ name, file, args }, run)
      if (name === 'openSync') files.set(result as number, file)
      if (name === 'closeSync') files.delete(args[0] as number)
      return result
    }

  const methods = fs as unknown as Record<string, Method>
  for (const name of METHODS) methods[name] = wrap(name, original[name] as Method)
  const realpath = methods.realpathSync as Method & { native?: Method }
  const native = (original.realpathSync as unknown as { native: Method }).native
  realpath.native = wrap('realpathSync', native)
  syncBuiltinESMExports()
  const end = (): void => {
    Object.assign(methods, original)
    syncBuiltinESMExports()
  }
  const closeLeft = (): void => {
    for (const descriptor of open) original.closeSync?.(descriptor)
    open.clear()
    for (const descriptor of files.keys()) if (descriptor > 2) files.delete(descriptor)
  }
  return { end, closeLeft }
}

/** An error like Node's: for a call on a descriptor it names no file. */
export function systemError(code: string, call: Call): NodeJS.ErrnoException {
  const syscall = call.name.replace(/Sync$/, '').toLowerCase()
  const named = typeof call.args[0] === 'string'
  const error: NodeJS.ErrnoException = new Error(
    `${code}: injected, ${syscall}${named ? ` '${call.args[0] as string}'` : ''}`,
  )
  error.code = code
  error.syscall = syscall
  error.errno = -1
  if (named) error.path = call.args[0] as string
  return error
}

/** The arguments with which a `writeSync` writes only the first half; undefined if the text has no half. */
export function halfOf(call: Call): { args: readonly unknown[]; length: number } | undefined {
  if (call.name !== 'writeSync') return undefined
  const [descriptor, data, offset] = call.args
  const bytes = typeof data === 'string' ? Buffer.from(data) : Buffer.from(data as Uint8Array)
  const start = typeof data === 'string' ? 0 : typeof offset === 'number' ? offset : 0
  const length = Math.floor((bytes.length - start) / 2)
  return length === 0 ? undefined : { args: [descriptor, bytes, start, length], length }
}
