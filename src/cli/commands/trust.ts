import { NO_FILE, ruleName } from '../../done/done-rules.ts'
import { describeRules, requireDoneRules } from '../../done/done-yaml.ts'
import { FileSearch } from '../../done/search.ts'
import * as store from '../../done/trust-store.ts'
import { isAgentShell } from '../../hosts/all-hosts.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { DONE_PATH } from '../../kernel/files.ts'
import { oneLine, QUOTE_LIMIT, quotedNames, stripControl } from '../../kernel/text.ts'
import { type CommandContext, requireRoot } from '../../project/command-context.ts'
import * as field from '../../views/documents.ts'
import type { Declaration, Result, Run } from '../command.ts'

/** docs/design.md, "Definition of done". */

export const declaration = {
  description: 'put specs/done.yaml into effect on this machine, after you have read it',
  examples: ['trust', 'trust --yes'],
  notes: [
    `
The commands in the file then run in your agents' shells (\`postflight done\`),
and hooks name them. Only the copy outside the repository counts: a later change
of the file has no effect until you trust it again. If the file is gone, its
rules are forgotten. Only a person can do this: the command refuses to run in an
agent's shell.`,
  ],
  declare: (command) => command.option('--yes', 'do not ask', false),
} satisfies Declaration

export const document = () =>
  field.object({
    path: field.text('The definition of done, relative to the root.'),
    trusted: field.flag('Whether its rules count now.'),
    changed: field.flag('Whether the file differs from the one that was trusted before.'),
    rules: field.objects({
      name: field.text("The rule's name, or its patterns."),
      when: field.texts('A pattern of files.'),
      unless: field.texts('A pattern of files.'),
      checks: field.texts('A shell command.'),
    }),
  })

export const run: Run<typeof declaration, typeof document> = (context, _arguments, { yes }) => {
  if (isAgentShell(context.environment)) throw new PostflightError('trust-agent')
  const root = requireRoot(context, DONE_PATH)
  const file = store.readDoneFile(root)
  if (file.kind === 'absent') return forget(context, root, yes)
  if (file.kind === 'unreadable') throw new PostflightError('file-unreadable', { path: DONE_PATH, detail: file.detail })
  const rules = requireDoneRules(file.text)
  const changed = store.readTrusted(root, context)?.fileHash !== file.hash
  const text = `${DONE_PATH}:\n\n${stripControl(file.text).trimEnd()}\n`
  const isAccepted = yes || !changed || isAnsweredYes(context, 'Trust these rules on this machine? [y/N] ', text)
  if (isAccepted && changed) store.keepTrusted(root, { rules, fileHash: file.hash }, context, context.nowMs)
  const shown = rules.map((rule) => {
    const { when, unless, checks } = rule
    return { name: ruleName(rule), when, unless, checks }
  })
  const search = new FileSearch(root)
  const withoutFile = isAccepted ? rules.filter((rule) => search.pathsOf(rule)?.length === 0) : []
  const trusted = changed
    ? `trusted ${DONE_PATH}: ${describeRules(shown.map(({ name }) => name))}`
    : `${DONE_PATH} is trusted already`
  return {
    exitCode: isAccepted ? 0 : 1,
    data: { path: DONE_PATH, trusted: isAccepted, changed, rules: shown },
    lines: [
      ...(yes && changed ? [text] : []),
      isAccepted ? trusted : `${DONE_PATH} was not trusted; nothing has changed`,
      ...withoutFile.map((rule) => `${quotedNames([ruleName(rule)])}: ${NO_FILE}`),
    ],
  }
}

function forget(context: CommandContext, root: string, yes: boolean): Result<typeof document> {
  if (store.readTrusted(root, context) === undefined) throw new PostflightError('done-none', { path: DONE_PATH })
  const isOfMain = store.mainWithDoneFile(root) !== undefined
  const shown = oneLine(store.trustedRoot(root), QUOTE_LIMIT)
  const question = `${DONE_PATH} is gone. Forget the rules that are trusted for ${shown}? [y/N] `
  const isAccepted = !isOfMain && (yes || isAnsweredYes(context, question))
  if (isAccepted) store.forgetTrusted(root, context)
  const kept = isOfMain
    ? `${DONE_PATH} is gone here, but not in ${shown}, so its rules stay trusted`
    : `the rules of ${DONE_PATH} are still trusted; nothing has changed`
  return {
    exitCode: isAccepted ? 0 : 1,
    data: { path: DONE_PATH, trusted: false, changed: true, rules: [] },
    lines: [isAccepted ? `forgot the rules of ${DONE_PATH}, which is gone` : kept],
  }
}

function isAnsweredYes({ terminal }: CommandContext, question: string, text?: string): boolean {
  if (terminal === undefined) throw new PostflightError('trust-needs-answer')
  if (text !== undefined) terminal.print(text)
  return /^(?:y|yes)$/i.test(terminal.ask(question)?.trim() ?? '')
}
