/** Random projects and payloads, to compare the predictions of `explain` with the hook. */

import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { OTHER_SESSION, SESSION } from '../../support/payloads.ts'
import { hoursAgo } from '../../support/project.ts'
import { linesOf, textAt } from '../support/files.ts'
import { markerText } from './fuzz.ts'
import { makeSandbox, type PackageCopy, type Sandbox, withSandbox } from './sandbox.ts'

/** Stands for the time of a case: thousands of them take minutes, and an age of minutes may change between two processes. */
const NOW = '(now)'

/** A marker that matches the payload in most fields, so that every row of the table is reached. */
const likelyMarker = fc
  .record(
    {
      id: fc.constantFrom('pf_abcdefgh1234', 'pf_abcdefgh5678', 'x'),
      cc_session_id: fc.constantFrom(SESSION, SESSION, OTHER_SESSION),
      agent_id: fc.constantFrom('main', 'agent-a', 'agent-b'),
      agent_type: fc.constantFrom('worker', 'explore'),
      stop_hook_active: fc.constantFrom(false, false, false, false, true),
      created: fc.constantFrom(NOW, hoursAgo(2), hoursAgo(30)),
      reason: fc.constantFrom('Update the status.', ''),
      steps: fc.constantFrom([{ name: 'commit', done: false }], ['a', 'b']),
      wait: fc.constantFrom({ for: 'x', count: 1 }, { for: 'x', count: 2, prompt_id: 'p1' }, { for: 'x', count: 11 }),
    },
    { requiredKeys: [] },
  )
  .map((fields) => JSON.stringify(fields))

const OBSTACLES = [
  ...['nothing', 'nothing', 'nothing', 'nothing', 'nothing', 'nothing', 'nothing', 'nothing'],
  'folder without rights',
  'marker without rights',
  'marker is a folder',
  'marker is a link',
  'guard is a folder',
  'claims is a file',
] as const

const taskFolder = fc.record({
  place: fc.constantFrom('specs', 'specs/archive', 'elsewhere/specs'),
  marker: fc.oneof({ weight: 4, arbitrary: likelyMarker }, markerText),
  guard: fc.constantFrom(undefined, undefined, undefined, '0\n', '1\n', '2\n', '3\n', 'x'),
  claims: fc.subarray(['pf_abcdefgh1234.1', 'pf_abcdefgh1234.2', 'pf_abcdefgh1234.3'], { maxLength: 2 }),
  obstacle: fc.constantFrom(...OBSTACLES),
})

export const agreementCase = fc.record({
  folders: fc.array(taskFolder, { minLength: 1, maxLength: 4 }),
  specs: fc.constantFrom('open', 'open', 'open', 'open', 'without rights'),
  payload: fc.record(
    {
      hook_event_name: fc.constantFrom('SubagentStop', 'SubagentStop', 'SubagentStop', 'Stop', 'Stop', 'SessionStart'),
      session_id: fc.constantFrom(SESSION, SESSION, SESSION, OTHER_SESSION),
      agent_id: fc.constantFrom('agent-a', 'agent-a', 'agent-b'),
      agent_type: fc.constantFrom('worker', 'explore'),
      background_tasks: fc.constantFrom([], [{ id: 'b', type: 'subagent', status: 'running' }]),
      prompt_id: fc.constantFrom('p1', 'p1', 'p2'),
      parent_agent_id: fc.constantFrom(undefined, undefined, undefined, 'p1'),
    },
    { requiredKeys: ['hook_event_name'] },
  ),
  cwd: fc.constantFrom('project', 'below', 'elsewhere', 'without rights', 'missing', undefined),
  hasTranscript: fc.boolean(),
  claude: fc.boolean(),
})
export type AgreementCase = typeof agreementCase extends fc.Arbitrary<infer T> ? T : never

const EVENTS: Record<string, string> = { block: 'block', capped: 'cap', bypassed: 'bypass', expired: 'expire' }

/** Compares all cases, several at a time. Returns the differences, and the number of markers for each rule. */
export async function compareAll(pack: PackageCopy, cases: readonly AgreementCase[]) {
  const differences: string[] = []
  const rules: Record<string, number> = {}
  let next = 0
  const work = async (): Promise<void> => {
    for (let index = next++; index < cases.length; index = next++) {
      const one = cases[index] as AgreementCase
      const compared = await withSandbox(makeSandbox(), (sandbox) => compare(sandbox, pack, one))
      differences.push(...compared.differences.map((text) => `case ${index}: ${text}\n${JSON.stringify(one)}`))
      for (const rule of compared.rules) rules[rule] = (rules[rule] ?? 0) + 1
    }
  }
  await Promise.all([work(), work(), work()])
  return { differences, rules }
}

/** The text without ages in seconds, which may differ because the two processes run one after the other. */
function withoutSeconds(text: string): string {
  return text.replace(/\b\d+ s old\b/g, 'seconds old')
}

/** True if rights matter, which only bind a process of another user. */
const hasRights = ({ folders, specs, cwd }: AgreementCase): boolean =>
  [specs, cwd, ...folders.map(({ obstacle }) => obstacle)].some((word) => word?.endsWith('without rights'))

/** Runs both for one case. Returns the differences, and the rules that `explain` named. */
async function compare(sandbox: Sandbox, pack: PackageCopy, one: AgreementCase) {
  const names = layOut(sandbox, one)
  const input = payloadOf(sandbox, one)
  const env = { CLAUDE_PROJECT_DIR: sandbox.project, ...(one.claude && { CLAUDECODE: '1' }) }
  const file = join(sandbox.base, 'payload.json')
  writeFileSync(file, input)
  const words = ['explain', '--payload', file, '--json']
  // Not the launcher: it searches from the process's folder, which hosts set to the payload's cwd.
  const isHere = !hasRights(one)
  const { stdout } = isHere
    ? await sandbox.here('cli', words, { env })
    : await sandbox.run(process.execPath, [pack.cli, ...words], { env })
  const explained = JSON.parse(withoutSeconds(stdout))
  const run = isHere
    ? await sandbox.here('hook', [], { env, input })
    : await sandbox.run(process.execPath, [join(pack.folder, 'dist', 'hook.js')], { input, env })
  const answer = JSON.parse(withoutSeconds(run.stdout))
  const differences: string[] = []
  if (JSON.stringify(explained.answer) !== JSON.stringify(answer)) {
    differences.push(`answers: ${JSON.stringify(explained.answer)} and ${run.stdout}`)
  }
  for (const { path } of explained.problems) {
    if (!run.stderr.includes(path)) differences.push(`the hook does not report ${path}: ${run.stderr}`)
  }
  // The end of a wait decides nothing: the rule that applies without it is the one that is compared.
  const journal = ['project', 'project/elsewhere']
    .flatMap((root) => journalOf(join(sandbox.base, root)))
    .filter(({ event }) => event !== 'wait-end')
  for (const marker of explained.markers) {
    const name = marker.path.split('/').at(-2)
    const isNoted = one.folders[Number(name.slice(0, 3)) - 1]?.obstacle !== 'claims is a file'
    const expected = marker.rule === null ? 'error' : marker.rule === 'expired' && !isNoted ? '' : EVENTS[marker.rule]
    const events = journal.filter(({ task }) => task === name).map(({ event }) => event)
    if (events.join() !== (expected ?? '')) differences.push(`${name}: ${marker.rule} and ${events.join()}`)
  }
  const told = explained.markers.map(({ path }: { path: string }) => path.split('/').at(-2))
  const silent = journal.filter(({ task }) => !told.includes(task) && names.includes(task))
  if (silent.length > 0) differences.push(`unexplained: ${JSON.stringify(silent)}`)
  return { differences, rules: explained.markers.map(({ rule }: { rule: string | null }) => String(rule)) }
}

function layOut(sandbox: Sandbox, { folders, specs }: AgreementCase): string[] {
  mkdirSync(sandbox.at('elsewhere', 'specs'), { recursive: true })
  mkdirSync(sandbox.at('below', 'it'), { recursive: true })
  mkdirSync(sandbox.at('closed', 'in'), { recursive: true })
  writeFileSync(join(sandbox.outside, 'marker'), '{}')
  // Created here, because the project's user could not create it in a `specs/` without rights.
  for (const root of ['.', 'elsewhere']) mkdirSync(sandbox.at(root, 'specs', '.postflight'), { recursive: true })
  const names = folders.map((folder, index) => layOutFolder(sandbox, folder, index))
  sandbox.hand()
  for (const [index, { place, obstacle }] of folders.entries()) {
    const folder = sandbox.at(place, names[index] as string)
    if (obstacle === 'folder without rights') chmodSync(folder, 0)
    if (obstacle === 'marker without rights') chmodSync(join(folder, '.postflight-pending'), 0)
  }
  chmodSync(sandbox.at('closed'), 0)
  if (specs === 'without rights') chmodSync(sandbox.at('specs'), 0)
  return names
}

function layOutFolder(
  sandbox: Sandbox,
  { place, marker, guard, claims, obstacle }: AgreementCase['folders'][number],
  index: number,
): string {
  const name = `00${index + 1}_x`
  const folder = sandbox.at(place, name)
  mkdirSync(folder, { recursive: true })
  const file = join(folder, '.postflight-pending')
  if (obstacle === 'marker is a folder') mkdirSync(file)
  else if (obstacle === 'marker is a link') symlinkSync(join(sandbox.outside, 'marker'), file)
  else writeFileSync(file, marker.replaceAll(NOW, hoursAgo(0)))
  if (obstacle === 'guard is a folder') mkdirSync(join(folder, '.postflight-loop-guard'))
  else if (guard !== undefined) writeFileSync(join(folder, '.postflight-loop-guard'), guard)
  const claimsFolder = join(folder, '.postflight-claims')
  if (obstacle === 'claims is a file') writeFileSync(claimsFolder, '')
  else if (claims.length > 0) {
    mkdirSync(claimsFolder)
    for (const claim of claims) {
      writeFileSync(join(claimsFolder, claim), 'f1-1\n')
      // An old time; otherwise the claim would count as underway.
      utimesSync(join(claimsFolder, claim), 0, 0)
    }
  }
  return name
}

function payloadOf(sandbox: Sandbox, { payload, cwd, hasTranscript }: AgreementCase): string {
  const folders = {
    project: sandbox.project,
    below: sandbox.at('below', 'it'),
    elsewhere: sandbox.at('elsewhere'),
    'without rights': sandbox.at('closed', 'in'),
    missing: sandbox.at('nowhere'),
  }
  const transcript = join(sandbox.env.HOME ?? '', 'session.jsonl')
  if (hasTranscript) writeFileSync(transcript, '{}\n')
  return JSON.stringify({
    ...payload,
    ...(cwd !== undefined && { cwd: folders[cwd] }),
    ...(hasTranscript && { transcript_path: transcript }),
  })
}

function journalOf(root: string): { task: string; event: string }[] {
  const text = textAt(join(root, 'specs', '.postflight', 'journal.jsonl')) ?? ''
  return linesOf(text).map((line) => JSON.parse(line))
}
