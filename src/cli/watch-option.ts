import { type CommandResult, findCommandRoot } from '../project/command-context.ts'
import type { Surroundings } from './command.ts'

export async function watchOnTerminal<Result extends CommandResult>(
  { stdout, json, quiet, contextNow, terminalOutput }: Surroundings,
  words: readonly (string | undefined)[],
  inspect: () => Result | Promise<Result>,
  isOver: (result: Result) => boolean = () => false,
): Promise<0 | 1 | undefined> {
  const context = contextNow()
  if (stdout.isTTY !== true || context.environment.TERM === 'dumb' || json || quiet) return undefined
  const { watchView } = await import('../views/live-view.ts')
  // In local time, like the person's other clocks.
  const clock = (): string => new Date(contextNow().nowMs).toTimeString().slice(0, 8)
  const command = words.filter((word) => word !== undefined).join(' ')
  const root = findCommandRoot(context)
  return watchView({ command, root, inspect, isOver, paint: context.paint, clock }, terminalOutput)
}

/** Otherwise the result is printed once, and a note says so. */
export async function watchOrNote<Result extends CommandResult>(
  surroundings: Surroundings,
  words: readonly (string | undefined)[],
  inspect: () => Result | Promise<Result>,
): Promise<0 | 1 | Result> {
  const exitCode = await watchOnTerminal(surroundings, words, inspect)
  if (exitCode !== undefined) return exitCode
  surroundings.contextNow().note('postflight: printed once: --watch needs a terminal, and no --json or --quiet')
  return inspect()
}
