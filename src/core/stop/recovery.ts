import { commandLine } from '../command-line.ts'
import type { Marker } from '../marker.ts'
import { RECOVERY_TEXT } from '../messages/stops.ts'
import { oneLine } from '../text.ts'
import { isUnowned } from './rules.ts'

/**
 * The text for a session that starts where postflights are unfinished (docs/design.md, "Recovery"). It leaves out the
 * markers' own reasons, which may have come with a cloned repository.
 */

const MAX_LISTED = 10
const NAME_LIMIT = 80

/** One unfinished postflight. */
export interface UnfinishedPostflight {
  readonly state: 'pending' | 'abandoned'
  readonly task: string
  readonly root: string
  /** The `--root` that the agent's commands need, if any. */
  readonly rootOption?: string | undefined
  readonly marker: Marker
  readonly ageMs: number
}

/** The text; undefined if nothing is unfinished. */
export function composeRecovery(
  unfinished: readonly UnfinishedPostflight[],
  session: string | undefined,
): string | undefined {
  const roots = [...new Set(unfinished.map((item) => item.root))]
  const parts = roots.map((root) =>
    composeForRoot(
      unfinished.filter((item) => item.root === root),
      session,
    ),
  )
  return parts.length === 0 ? undefined : parts.join('\n\n')
}

/** The text for one root, with its own commands. */
function composeForRoot(unfinished: readonly UnfinishedPostflight[], session: string | undefined): string {
  // Each root has at least one item.
  const [{ root, rootOption }] = unfinished as readonly [UnfinishedPostflight]
  const lines = unfinished.slice(0, MAX_LISTED).map((item) => describe(item, session))
  const rest = unfinished.length - lines.length
  const command = (...words: string[]): string => `${commandLine(words, rootOption)} <task>`
  // `adopt` and `clear` refuse the marker of a workflow.
  const advice = [
    ...(unfinished.every(({ marker }) => marker.workflow)
      ? []
      : [RECOVERY_TEXT.advice(command('adopt'), command('clear'))]),
    ...(unfinished.some(({ marker }) => marker.workflow)
      ? [RECOVERY_TEXT.workflowAdvice(command('workflow', 'status'), command('workflow', 'resume'))]
      : []),
    RECOVERY_TEXT.doubt,
  ]
  return [
    RECOVERY_TEXT.intro(oneLine(root, NAME_LIMIT * 2)),
    ...lines,
    ...(rest > 0 ? [RECOVERY_TEXT.more(rest)] : []),
    advice.join(' '),
  ].join('\n')
}

function describe(
  { state, task, rootOption, marker, ageMs }: UnfinishedPostflight,
  session: string | undefined,
): string {
  const name = oneLine(task, NAME_LIMIT)
  const operation = marker.operation === undefined ? undefined : oneLine(marker.operation, NAME_LIMIT)
  const owner = isUnowned(marker)
    ? RECOVERY_TEXT.unowned
    : marker.hostSession === session
      ? RECOVERY_TEXT.mine
      : RECOVERY_TEXT.other
  const standing = marker.workflow
    ? RECOVERY_TEXT.workflow(commandLine(['workflow', 'resume', name], rootOption))
    : RECOVERY_TEXT[state]
  return RECOVERY_TEXT.item(name, operation, standing, owner, ageMs)
}
