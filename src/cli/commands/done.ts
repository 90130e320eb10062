import { DONE_STATUS_TEXTS, NO_FILE, repairDoneFile, ruleName } from '../../done/done-rules.ts'
import { requireDoneRules } from '../../done/done-yaml.ts'
import { clearProven, type DoneProof, knowsSession, proveDone, statesFor } from '../../done/prove-done.ts'
import { isSearched, namesNoFile, type RuleState } from '../../done/search.ts'
import { compareWithCopy, readDoneFile, readTrusted, type TrustedRules } from '../../done/trust-store.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { DONE_PATH } from '../../kernel/files.ts'
import { oneLine, quotedNames } from '../../kernel/text.ts'
import { toIso } from '../../kernel/time.ts'
import { checkFailed, checksPassed, outputLines, since } from '../../marker/check-messages.ts'
import { type CommandContext, requireRoot } from '../../project/command-context.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import * as field from '../../views/documents.ts'
import { failedCheckData } from '../clear-folder.ts'
import type { Declaration, Result, Run } from '../command.ts'

/** docs/design.md, "Definition of done". */

export const declaration = {
  free: true,
  description: 'run the checks of specs/done.yaml that changed files call for',
  examples: ['done', 'done --list', 'done --all'],
  declare: (command) =>
    command
      .option('--all', 'the checks of every rule', false)
      .option('--list', 'only list which rules are due, and why', false),
} satisfies Declaration

export const document = () =>
  field.object({
    path: field.text('The definition of done, relative to the root.'),
    rules: field.objects({
      name: field.text("The rule's name, or its patterns."),
      due: field.flag('Whether its files changed since it was last proven; before the checks ran.'),
      changed: field.texts('A changed file, relative to the root; at most five.'),
      searched: field.flag('False if its files are too many to be searched.'),
      green: field.flag('Whether its checks succeeded now.'),
      proven: field.optionalText('When its checks succeeded last, in ISO 8601.'),
      own_output: field.texts('A file that the checks write themselves.'),
    }),
    checks: field.objects({ run: field.text('The shell command.'), duration_ms: field.count('How long it ran.') }),
    failed: field.optional(field.failedCheck),
    cleared: field.texts('The folder of a session whose marker was removed, relative to the root.'),
  })

export const run: Run<typeof declaration, typeof document> = async (context, _arguments, { all, list }) => {
  const root = requireRoot(context, DONE_PATH)
  const trusted = trustedRules(context, root)
  const states = statesFor(context, root, trusted)
  const wanted = states.filter(({ isDue }) => all || isDue).map(({ rule }) => rule)
  if (list) return resultOf(states, undefined, [], states.map(listLine))
  if (wanted.length === 0) {
    const cleared = clearProven(context, root, trusted)
    const unsearched = states.filter((state) => !isSearched(state)).map(listLine)
    if (unsearched.length > 0) return resultOf(states, undefined, cleared, unsearched, 1)
    if (readDoneFile(root).kind === 'absent') {
      return resultOf(states, undefined, cleared, ['specs/done.yaml is gone, so it blocks nothing'])
    }
    const why = knowsSession(context, root)
      ? 'no file that a rule names changed since the rule was last proven'
      : 'no session of an agent is known here'
    return resultOf(states, undefined, cleared, [`nothing is due: ${why} (--all runs every rule)`])
  }
  const proof = await proveDone(context, root, trusted, wanted)
  if (proof.kind === 'busy') throw new PostflightError('done-running', { since: since(proof.sinceMs, context.nowMs) })
  return resultOf(states, proof, proof.cleared, linesOf(proof))
}

function trustedRules(context: CommandContext, root: string): TrustedRules {
  const file = readDoneFile(root)
  const copy = readTrusted(root, context)
  const trust = commandLine(['trust'], context.rootOption)
  const status = compareWithCopy(file, copy)
  if (status === 'changed' || status === 'unreadable') {
    const replace = `in your own terminal, \`${trust}\` replaces them`
    const advice = status === 'changed' ? replace : repairDoneFile(`\`${trust}\``)
    context.note(`postflight: ${DONE_STATUS_TEXTS[status]} (${advice})`)
  }
  if (copy !== undefined) return file.kind === 'absent' ? { ...copy, rules: [] } : copy
  if (file.kind === 'absent') throw new PostflightError('done-none', { path: DONE_PATH })
  if (file.kind === 'unreadable') throw new PostflightError('file-unreadable', { path: DONE_PATH, detail: file.detail })
  requireDoneRules(file.text)
  throw new PostflightError('done-untrusted', { path: DONE_PATH, trust })
}

function resultOf(
  states: readonly RuleState[],
  proof: DoneProof | undefined,
  cleared: readonly TaskFolder[],
  lines: readonly string[],
  exitCode: 0 | 1 = proof?.failed === undefined ? 0 : 1,
): Result<typeof document> {
  const failed = proof?.failed
  return {
    exitCode,
    data: {
      path: DONE_PATH,
      rules: states.map(({ rule, isDue, changed, paths, receipt: before }) => {
        const now = proof?.green.find((one) => one.rule === rule)?.receipt
        const receipt = now ?? before
        return {
          name: ruleName(rule),
          due: isDue,
          changed,
          searched: paths !== undefined,
          green: now !== undefined,
          proven: receipt === undefined ? null : toIso(receipt.atMs),
          own_output: [...(receipt?.ownOutput ?? []), ...Object.keys(receipt?.rewritten ?? {})],
        }
      }),
      checks: (proof?.done ?? []).map(({ run, durationMs }) => ({ run, duration_ms: durationMs })),
      failed: failed === undefined ? null : failedCheckData(failed),
      cleared: cleared.map(({ relative }) => relative),
    },
    lines,
    essential: exitCode === 0 ? [] : lines,
  }
}

function listLine(state: RuleState): string {
  const { rule, isDue, changed, paths, receipt } = state
  const name = oneLine(ruleName(rule), 80)
  if (paths === undefined)
    return `?        ${name}: too many files to be searched (--all runs its checks all the same); narrow its \`when\``
  const unproven = namesNoFile(state) ? ` (${NO_FILE})` : ''
  if (!isDue) return `not due  ${name}${receipt === undefined ? unproven : ` (proven ${toIso(receipt.atMs)})`}`
  const short = (texts: readonly string[]): string[] => texts.map((text) => oneLine(text, 120))
  const files = changed.length === 0 ? 'files were added or removed' : short(changed).join(', ')
  return `due      ${name}: ${short(rule.checks).join('; ')} (${files})`
}

function linesOf({ done, failed, green, due }: DoneProof): string[] {
  if (failed !== undefined) {
    const line = `the ${checkFailed(failed)}, so the work is not done. The end of its output:`
    return [line, ...outputLines(failed.output)]
  }
  const own = [...new Set(green.flatMap(({ receipt }) => receipt.ownOutput))]
  const same = [...new Set(green.flatMap(({ receipt }) => Object.keys(receipt.rewritten)))]
  const makeNothingDue = `the checks write files themselves, whose changes make nothing due: ${quotedNames(own)}`
  const ranTwice = `the checks write files anew with the same content, so they ran twice: ${quotedNames(same)}`
  return [
    checksPassed(done),
    ...(own.length === 0 ? [] : [`${makeNothingDue}. Add them to \`unless\` in specs/done.yaml`]),
    ...(same.length === 0 ? [] : [`${ranTwice}. If they are generated, add them to \`unless\` in specs/done.yaml`]),
    ...(due.length === 0 ? [] : [`due again, because files changed meanwhile: ${quotedNames(due.map(ruleName))}`]),
  ]
}
