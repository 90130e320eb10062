import { counted, quote } from '../kernel/phrases.ts'

/** The words of the views that stay open. */
export const WATCH_TEXT = {
  title: (command: string, root: string | undefined): string =>
    `postflight ${command}${root === undefined ? '' : `  ${quote(root, 200)}`}`,
  foot: (changedAt: string): string => `last change ${changedAt} · q quits`,
  waits: (task: string | undefined): string =>
    task === undefined
      ? 'no workflows here yet'
      : `no workflow of task ${quote(task, 80)} yet: waiting until it starts`,
  more: (count: number): string => `… ${counted(count, 'more row')}: make the window taller`,
  notATerminal: 'postflight: --watch needs a terminal, so this was printed once',
} as const
