import { oneLine } from '../../kernel/text.ts'
import { toIsoSeconds } from '../../kernel/time.ts'
import type { Holder } from './share-record.ts'

export const SHARED_TEXT = {
  released: (remote: string): string => `released: anyone may go on with it (${remote})`,
  freed: (remote: string): string => `another machine took it over and released it (${remote})`,
  taken: (remote: string, holder: Holder): string =>
    `it goes on at ${holderWords(holder)}, since ${toIsoSeconds(holder.sinceMs)} (${remote})`,
  kept: (ref: string): string => `; what was not published is kept at ${ref}`,
  keptHere: (ref: string): string => `; what was not published is kept at ${ref}, in this repository only`,
  readable: (remote: string, run: string): string =>
    `published to ${remote} as refs/postflight/${run}. Everyone who can read that repository can now read the run's state with all its prompts and inputs, its artifacts, step results, receipts and history`,
  machine: (name: string): string => `and the name of this machine: ${name} (POSTFLIGHT_MACHINE gives another one)`,
  elsewhere: (resume: string): string => `after \`workflow release\` here, another machine goes on with \`${resume}\``,
  waits: 'waiting for the git remote (30 s at most)',
  none: (remote: string): string => `no shared runs in ${remote}`,
  needsApproval: 'waits for approval',
  freeSince: (age: string): string => `released ${age} ago`,
  heldHere: (age: string): string => `held here for ${age}`,
  held: (holder: string, age: string): string => `held by ${holder} for ${age}`,
  lost: (ref: string): string => `${ref} keeps what was not published before a takeover`,
  refGone: 'its ref is gone from the remote',
  gone: (share: string): string => `its ref is gone from the remote: \`${share}\` publishes it again`,
  unsafeFolder: 'the name of its task folder is not safe on every machine',
  setBack: (remove: string): string =>
    `its ref was set back there to an older version: \`${remove}\` removes it, then publish again`,
  noRemote: (share: string): string => `that remote is gone or renamed: \`${share} REMOTE\` goes on with another name`,
  refused: 'the remote refused it',
} as const

export function holderWords({ machine, session }: Holder): string {
  const on = oneLine(machine ?? '', 100)
  return session === undefined ? on : `${on} (session ${oneLine(session, 100)})`
}
