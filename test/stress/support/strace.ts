/** Makes faults in the system calls themselves, with strace, so that calls outside of Node's `fs` are included. */

import fs from 'node:fs'
import path from 'node:path'
import { canRun } from '../../support/process.ts'
import type { Room, Start } from './fault-runner.ts'

/** One system call about a file of the project: the `when`th of its name in the main thread. */
export type SystemCall = { readonly name: string; readonly when: number }

const TRACED = [
  ...['openat', 'write', 'fsync', 'close', 'read', 'utimensat', 'statx', 'getdents64'],
  ...['rename', 'renameat', 'renameat2', 'link', 'linkat', 'unlink', 'unlinkat', 'mkdir', 'mkdirat', 'rmdir'],
]

/** True when strace exists and may trace: a container may forbid it. */
export function canTamper(): boolean {
  return canRun('strace -qq -o /dev/null -e trace=openat -e inject=openat:error=EIO:when=9999 true')
}

const logOf = (room: Room): string => path.join(room.base, 'system-calls')

export function traced(room: Room, program: Start['program']): Start {
  // With `?` strace ignores calls that this machine does not have.
  const names = TRACED.map((name) => `?${name}`).join(',')
  return { program, tampering: ['-qq', '-y', '-o', logOf(room), '-e', `trace=${names}`] }
}

/** The system calls of the last traced program about files of the project, in order. */
export function readTrace(room: Room): SystemCall[] {
  const seen = new Map<string, number>()
  const calls: SystemCall[] = []
  for (const line of fs.readFileSync(logOf(room), 'utf8').split('\n')) {
    const name = /^(\w+)\(/.exec(line)?.[1]
    if (name === undefined) continue
    const when = (seen.get(name) ?? 0) + 1
    seen.set(name, when)
    // With -y strace prints a descriptor's file after it, and the current folder after AT_FDCWD.
    if (line.replace(/AT_FDCWD<[^>]*>/g, '').includes(`${room.project}/`)) calls.push({ name, when })
  }
  return calls
}

/** The arguments for strace to inject a fault at one call: `signal=KILL` or `error=ENOSPC`. */
export function tampering({ name, when }: SystemCall, what: string): string[] {
  return ['-qq', '-o', '/dev/null', '-e', `trace=${name}`, '-e', `inject=${name}:${what}:when=${when}`]
}
