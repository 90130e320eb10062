/** A remote whose shared run was forged: it is refused as a whole, nothing is written, and nothing is run. */

import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMachines, git, type Machine, WALK } from '../../support/machines.ts'

/** An entry of a tree. Its name may be one that no checkout could write. */
interface Entry {
  readonly mode: string
  readonly content: string | Uint8Array
}

type Tree = Map<string, Entry>

/** Changes the entries of a released run, by their paths with `/`. */
type Forgery = (tree: Tree) => void

const file = (content: string | Uint8Array, mode = '100644'): Entry => ({ mode, content })

const extra =
  (name: string, entry: Entry = file('x')): Forgery =>
  (tree) => {
    tree.set(name, entry)
  }

const changedJson =
  (name: string, change: (value: Record<string, unknown>) => object): Forgery =>
  (tree) => {
    const value = JSON.parse(String(tree.get(name)?.content))
    tree.set(name, file(JSON.stringify(change(value))))
  }

const holder = (fields: object): Forgery => changedJson('holder.json', (held) => ({ ...held, ...fields }))
const state = (fields: object): Forgery => changedJson('state.json', (held) => ({ ...held, ...fields }))
const definition = (phase: object): Forgery => state({ definition: { name: 'x', phases: [{ ...PHASE, ...phase }] } })

const PHASE = {
  ...{ id: 'plan', prompt: 'p', gate: 'strict', max_attempts: 3, next: { pass: 'end', fail: 'end' }, max_visits: 1 },
  ...{ max_step_attempts: 3, on_exhausted: 'skip' },
}

/** What it is, how it is made, and for one of each kind the message. */
const FORGERIES: readonly (readonly [string, Forgery, string?])[] = [
  ['a link to a file', extra('folder/plan.md', file('/etc/passwd', '120000')), 'it has more than plain files'],
  ['a link in place of a folder', extra('folder/artifacts', file('/tmp', '120000'))],
  ['an executable file', extra('folder/plan.md', file('x', '100755'))],
  ['a submodule', extra('folder/sub', file('1'.repeat(40), '160000'))],
  ['the name ..', extra('folder/..')],
  ['a name with ..\\', extra('folder/..\\..\\evil.md')],
  ['the name .git', extra('folder/.git')],
  ['the name .GIT in a folder', extra('folder/artifacts/.GIT')],
  ['attributes', extra('.gitattributes', file('* filter=evil'))],
  ['a marker', extra('folder/.postflight-pending', file('{}')), 'is not a safe name'],
  ['claims of a marker', extra('folder/.postflight-claims', file('x'))],
  ['another state', extra('folder/workflow/state.json', file('{}'))],
  ['the id of a run', extra('folder/workflow/id')],
  ['a record of a share', extra('folder/workflow/shared.json', file('{}'))],
  ['a drive of Windows', extra('folder/c:evil.md')],
  ['a device of Windows', extra('folder/NUL.md')],
  ['a name that ends in a dot', extra('folder/plan.md.')],
  ['a name with a line break', extra('folder/a\nb.md')],
  ['a name with an escape sequence', extra('folder/a\u001b[2J.md')],
  ['names that differ in case', extra('folder/PLAN.md'), '"folder/plan.md" differ only in case'],
  ['a file and a folder that differ in case', extra('folder/PLAN.md/x'), 'differ only in case'],
  ['a file that no phase has', extra('folder/own.md'), '"own.md" is not a file of its workflow'],
  ['a file at the top', extra('run.sh', file('#!/bin/sh'))],
  ['an archive of an unknown phase', extra('folder/artifacts/other/1-plan.md')],
  ['a step result that is a program', extra('folder/step-results/plan/1-1.sh')],
  ['a path that is too deep', extra('folder/step-results/plan/visit-2/deeper/1-1.json')],
  [
    'too many files',
    (tree) => Array.from({ length: 1_001 }, (_, n) => tree.set(`folder/step-results/plan/1-${n}.json`, file('{}'))),
    'it has more than 1000 files',
  ],
  ['too many bytes', extra('folder/plan.md', file(new Uint8Array(20_000_001))), 'it is larger than 20 MB'],
  ['no holder', (tree) => tree.delete('holder.json')],
  ['a holder that is no JSON', extra('holder.json', file('{'))],
  ['a holder of 10 kB', extra('holder.json', file(JSON.stringify({ machine: 'x'.repeat(10_000) })))],
  ['a folder outside of specs/', holder({ path: '../../evil' }), 'its holder.json is not valid'],
  ['an absolute folder', holder({ path: '/tmp/evil' })],
  ['a hidden folder', holder({ path: '.git/hooks' })],
  ['a folder that is too deep', holder({ path: 'a/b/c' })],
  ['a generation below zero', holder({ generation: -1 })],
  ['a nonce that is none', holder({ nonce: 'x' })],
  ['no state', (tree) => tree.delete('state.json')],
  ['a state of another version', state({ version: 99 }), 'its state.json is not valid'],
  ['a state of another run', state({ id: 'wf_another' }), 'that of another run'],
  ['an artifact outside of the task folder', definition({ artifact: '../../.claude/settings.json' })],
  ['an artifact that is a marker', definition({ artifact: '.postflight-pending' })],
  ['a phase that leads nowhere', definition({ artifact: 'a.md', next: { pass: 'nowhere', fail: 'end' } })],
]

/** Writes a tree into a repository, whatever its names are. */
function writeTree(repository: string, tree: Tree): string {
  const lines: string[] = []
  const folders = new Map<string, Tree>()
  for (const [path, entry] of tree) {
    const [name = '', ...rest] = path.split('/')
    if (rest.length > 0) {
      folders.set(name, (folders.get(name) ?? new Map()).set(rest.join('/'), entry))
      continue
    }
    const isCommit = entry.mode === '160000'
    const object = isCommit ? String(entry.content) : hash(repository, entry.content)
    lines.push(`${entry.mode} ${isCommit ? 'commit' : 'blob'} ${object}\t${name}\0`)
  }
  for (const [name, inner] of folders) lines.push(`040000 tree ${writeTree(repository, inner)}\t${name}\0`)
  return run(repository, ['mktree', '-z', '--missing'], lines.join(''))
}

const hashed = new Map<string, string>()

function hash(repository: string, content: string | Uint8Array): string {
  const key = `${repository} ${typeof content === 'string' ? content : content.length}`
  const known = hashed.get(key) ?? run(repository, ['hash-object', '-w', '--stdin'], content)
  hashed.set(key, known)
  return known
}

function run(repository: string, words: readonly string[], input: string | Uint8Array): string {
  return execFileSync('git', words, { cwd: repository, input, encoding: 'utf8' }).trim()
}

/** A released run in a remote, and a machine that would go on with it, whose git could run something. */
async function released() {
  const { one, two, remote } = createMachines(['one', 'two'])
  await one.workflow('start', '7', 'walk', '--definition', 'walk.json', '--share')
  one.write(`${WALK}/plan.md`, 'the plan')
  await one.workflow('release', '7')
  const id = String(one.state().id)
  const ref = `refs/postflight/${id}`
  const names = git(remote, 'ls-tree', '-r', '--name-only', ref).split('\n')
  const tree: Tree = new Map(
    names.map((name) => [name, file(`${git(remote, 'cat-file', 'blob', `${ref}:${name}`)}\n`)]),
  )
  const ran = join(two.base, 'ran')
  for (const hook of ['post-checkout', 'post-merge', 'reference-transaction', 'pre-push', 'post-index-change']) {
    writeFileSync(two.at('.git/hooks', hook), `#!/bin/sh\necho ran > '${ran}'\n`, { mode: 0o755 })
  }
  git(two.dir, 'config', 'filter.evil.smudge', `echo ran > '${ran}'`)
  git(two.dir, 'config', 'core.fsmonitor', `echo ran > '${ran}'`)
  return { two, remote, id, tree, ran }
}

async function expectRefused(two: Machine, id: string, ran: string, before: object, message = ''): Promise<void> {
  const resumed = await two.workflow('resume', id, '--shared', '--trust', '--json')
  expect([1, 65], resumed.stdout).toContain(resumed.status)
  expect(resumed.json().error.code).toMatch(/^(?:shared-tree|shared-none|remote-unreachable)$/)
  expect(resumed.json().error.message).toContain(message)
  const status = await two.cli(['status', '--shared'])
  expect(status.status).toBe(0)
  expect(resumed.stderr + status.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
  expect(two.snapshot()).toEqual(before)
  expect(existsSync(ran)).toBe(false)
}

describe('a forged run', () => {
  it('is refused with each of forty-three faults; nothing is written and nothing runs', async () => {
    const { two, remote, id, tree, ran } = await released()
    const before = two.snapshot()
    expect(FORGERIES).toHaveLength(43)
    for (const [title, forge, message] of FORGERIES) {
      const forged = new Map(tree)
      forge(forged)
      const commit = run(remote, ['commit-tree', writeTree(remote, forged), '-m', title], '')
      git(remote, 'update-ref', `refs/postflight/${id}`, commit)
      await expectRefused(two, id, ran, before, message).catch((error: Error) => {
        throw new Error(`${title}: ${error.message}`)
      })
    }
  })

  it.each([
    ['a blob', (remote: string) => run(remote, ['hash-object', '-w', '--stdin'], 'x')],
    ['a tree', (remote: string) => run(remote, ['mktree'], '')],
  ])('is refused where its ref is %s', async (_, make) => {
    const { two, remote, id, ran } = await released()
    const before = two.snapshot()
    git(remote, 'update-ref', `refs/postflight/${id}`, make(remote))

    await expectRefused(two, id, ran, before)
  })

  it('is not asked for by a name that is no id, whatever lies below refs/postflight', async () => {
    const { two, remote, id } = await released()
    const head = git(remote, 'rev-parse', `refs/postflight/${id}`)
    for (const name of ['a/b', 'wf_@x', `${id}-lost-1`, '-x'])
      git(remote, 'update-ref', `refs/postflight/${name}`, head)

    const { runs, lost } = (await two.cli(['status', '--shared', '--json'])).json()

    expect(runs.map((one: { id: string }) => one.id)).toEqual([id])
    expect(lost).toEqual([`refs/postflight/${id}-lost-1`])
  })
})
