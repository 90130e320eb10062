/**
 * Passes every file-system call of a program through one function. It replaces the methods of the object that both
 * `import fs from 'node:fs'` and `require('fs')` give, so the code under test needs no change.
 */

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import path from 'node:path'

export interface Call {
  readonly name: string
  /** The file of the call: its path, or that of its descriptor; `<stdout>` and `<stderr>`. */
  readonly file: string
  readonly args: readonly unknown[]
}

/** Handles a call: makes it with `run`, perhaps with other arguments, or does not make it. */
export type Around = (call: Call, run: (args?: readonly unknown[]) => unknown) => unknown

const METHODS = [
  ...'access appendFile chmod chown close copyFile exists fchmod fchown fdatasync fstat fsync ftruncate futimes'.split(
    ' ',
  ),
  ...'lchown link lstat lutimes mkdir mkdtemp opendir open readdir readFile readlink read realpath rename rmdir'.split(
    ' ',
  ),
  ...'rm stat symlink truncate unlink utimes writeFile write writev'.split(' '),
].map((name) => `${name}Sync`)

type Method = (...args: unknown[]) => unknown

const methods = fs as unknown as Record<string, Method>
export const original: Readonly<Record<string, Method>> = Object.fromEntries(
  METHODS.map((name) => [name, methods[name] as Method]),
)

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

/**
 * A fault at a call. `kill-half`, `short`: only the first half of a write is written. `errors`: that call and every later one
 * of its name fail. `clock`: the clock of all programs is set by that many ms; what measures a process's age goes on.
 */
export type Fault = 'none' | `clock:${number}` | Kill | 'short' | `error:${string}` | `errors:${string}`
export type Kill = (typeof KILLS)[number]

export const KILLS = ['kill', 'kill-half', 'kill-after'] as const
export const ERROR_CODES = ['ENOSPC', 'EIO', 'EACCES', 'EROFS', 'EMFILE', 'EINTR'] as const

/** Makes the calls of a program, with the fault at the call `at`, counted from 1; `die` ends the program. */
export function withFault(at: number, fault: Fault, die: () => never): Around {
  let count = 0
  let failing: string | undefined
  return (call, run) => {
    count += 1
    const now = count === at ? fault : 'none'
    // Errors of stdout are left out: the program could not report them.
    if (!call.file.startsWith('<')) {
      if (now.startsWith('errors:')) failing = call.name
      if (now.startsWith('error:') || failing === call.name)
        throw systemError(fault.slice(fault.indexOf(':') + 1), call)
    }
    if (now === 'short') return run(halfOf(call))
    const half = now === 'kill-half' ? halfOf(call) : undefined
    if (half !== undefined || now === 'kill-after') run(half)
    return now.startsWith('kill') ? die() : run()
  }
}

/** An error like Node's: for a call on a descriptor it names no file. */
export function systemError(code: string, { name, args: [file] }: Call): Error {
  const syscall = name.replace(/Sync$/, '').toLowerCase()
  const isNamed = typeof file === 'string'
  const message = `${code}: injected, ${syscall}${isNamed ? ` '${file}'` : ''}`
  return Object.assign(new Error(message), { code, syscall, errno: -1, ...(isNamed && { path: file }) })
}

/** The arguments with which a `writeSync` writes only the first half; undefined if the text has no half. */
function halfOf(call: Call): readonly unknown[] | undefined {
  if (call.name !== 'writeSync') return undefined
  const [descriptor, data, offset] = call.args
  const bytes = typeof data === 'string' ? Buffer.from(data) : Buffer.from(data as Uint8Array)
  const start = typeof data === 'string' || typeof offset !== 'number' ? 0 : offset
  const length = Math.floor((bytes.length - start) / 2)
  return length === 0 ? undefined : [descriptor, bytes, start, length]
}
