import type { CommandContext } from '../../project/command-context.ts'
import type { Declaration, Outcome, Surroundings } from '../command.ts'
import { declaration as adopt } from './adopt.ts'
import { declaration as bypass } from './bypass.ts'
import { declaration as clear } from './clear.ts'
import { declaration as complete } from './complete.ts'
import { declaration as completion } from './completion.ts'
import { declaration as create } from './create.ts'
import { declaration as doctor } from './doctor.ts'
import { declaration as done } from './done.ts'
import { declaration as explain } from './explain.ts'
import { declaration as init } from './init.ts'
import { declaration as inspect } from './inspect.ts'
import { declaration as install } from './install.ts'
import { declaration as logs } from './logs.ts'
import { declaration as report } from './report.ts'
import { declaration as status } from './status.ts'
import { declaration as statusline } from './statusline.ts'
import { declaration as step } from './step.ts'
import { declaration as trust } from './trust.ts'
import { declaration as uninstall } from './uninstall.ts'
import { declaration as wait } from './wait.ts'
import { approveDeclaration as approve, rejectDeclaration as reject } from './workflow-approval.ts'
import { declaration as check } from './workflow-check.ts'
import { abortDeclaration, retryDeclaration, skipDeclaration, stopDeclaration } from './workflow-control.ts'
import { declaration as graph } from './workflow-graph.ts'
import { declaration as history } from './workflow-history.ts'
import { declaration as next } from './workflow-next.ts'
import { declaration as resume } from './workflow-resume.ts'
import { publishDeclaration as publish, releaseDeclaration as release, shareDeclaration } from './workflow-sharing.ts'
import { declaration as simulate } from './workflow-simulate.ts'
import { declaration as start } from './workflow-start.ts'
import { declaration as workflowStatus } from './workflow-status.ts'
import { declaration as validate } from './workflow-validate.ts'

export const COMMANDS = {
  create: { declaration: create, load: async () => (await import('./create.ts')).run },
  clear: { declaration: clear, load: async () => (await import('./clear.ts')).run },
  status: { declaration: status, load: async () => (await import('./status.ts')).run },
  inspect: { declaration: inspect, load: async () => (await import('./inspect.ts')).run },
  step: { declaration: step, load: async () => (await import('./step.ts')).run },
  wait: { declaration: wait, load: async () => (await import('./wait.ts')).run },
  bypass: { declaration: bypass, load: async () => (await import('./bypass.ts')).run },
  done: { declaration: done, load: async () => (await import('./done.ts')).run },
  trust: { declaration: trust, load: async () => (await import('./trust.ts')).run },
  adopt: { declaration: adopt, load: async () => (await import('./adopt.ts')).run },
  explain: { declaration: explain, load: async () => (await import('./explain.ts')).run },
  logs: { declaration: logs, load: async () => (await import('./logs.ts')).run },
  report: { declaration: report, load: async () => (await import('./report.ts')).run },
  statusline: { declaration: statusline, load: async () => (await import('./statusline.ts')).run },
  completion: { declaration: completion, load: async () => (await import('./completion.ts')).run },
  complete: { declaration: complete, load: async () => (await import('./complete.ts')).run },
  init: { declaration: init, load: async () => (await import('./init.ts')).run },
  install: { declaration: install, load: async () => (await import('./install.ts')).run },
  uninstall: { declaration: uninstall, load: async () => (await import('./uninstall.ts')).run },
  doctor: { declaration: doctor, load: async () => (await import('./doctor.ts')).run },
  'workflow validate': { declaration: validate, load: async () => (await import('./workflow-validate.ts')).run },
  'workflow start': { declaration: start, load: async () => (await import('./workflow-start.ts')).run },
  'workflow status': { declaration: workflowStatus, load: async () => (await import('./workflow-status.ts')).run },
  'workflow next': { declaration: next, load: async () => (await import('./workflow-next.ts')).run },
  'workflow check': { declaration: check, load: async () => (await import('./workflow-check.ts')).run },
  'workflow stop': { declaration: stopDeclaration, load: async () => (await import('./workflow-control.ts')).stop },
  'workflow resume': { declaration: resume, load: async () => (await import('./workflow-resume.ts')).run },
  'workflow abort': { declaration: abortDeclaration, load: async () => (await import('./workflow-control.ts')).abort },
  'workflow approve': { declaration: approve, load: async () => (await import('./workflow-approval.ts')).approve },
  'workflow reject': { declaration: reject, load: async () => (await import('./workflow-approval.ts')).reject },
  'workflow retry': { declaration: retryDeclaration, load: async () => (await import('./workflow-control.ts')).retry },
  'workflow skip': { declaration: skipDeclaration, load: async () => (await import('./workflow-control.ts')).skip },
  'workflow share': { declaration: shareDeclaration, load: async () => (await import('./workflow-sharing.ts')).share },
  'workflow publish': { declaration: publish, load: async () => (await import('./workflow-sharing.ts')).publish },
  'workflow release': { declaration: release, load: async () => (await import('./workflow-sharing.ts')).release },
  'workflow history': { declaration: history, load: async () => (await import('./workflow-history.ts')).run },
  'workflow simulate': { declaration: simulate, load: async () => (await import('./workflow-simulate.ts')).run },
  'workflow graph': { declaration: graph, load: async () => (await import('./workflow-graph.ts')).run },
} as const satisfies Readonly<Record<string, ListedCommand>>

type ListedCommand = Readonly<{ declaration: Declaration; load: () => Promise<RunCommand> }>

export type RunCommand = (...given: [CommandContext, never, never, Surroundings]) => Outcome | Promise<Outcome>

export type CommandName = keyof typeof COMMANDS

export type Invocation = Readonly<{ command: CommandName; arguments: readonly unknown[]; options: object }>

export function freeCommands(): string[] {
  return Object.entries(COMMANDS).flatMap(([name, { declaration }]: [string, ListedCommand]) =>
    declaration.free === true ? name : [],
  )
}

export function commandIn(words: readonly string[]): CommandName | 'overview' | undefined {
  const named = words.filter((word, at) => !word.startsWith('-') && words[at - 1] !== '--root')
  if (named.length === 0) return 'overview'
  return [named.slice(0, 1), named.slice(0, 2)]
    .map((start) => start.join(' '))
    .find((name): name is CommandName => Object.hasOwn(COMMANDS, name))
}
