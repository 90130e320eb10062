/** A remote whose shared run was forged: it is refused as a whole, nothing is written, and nothing is run. */

import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMachines, git, type Machine, WALK } from '../../support/machines.ts'

/** Files by their paths with `/`, which may be such that no checkout could write them. */
type Tree = Map<string, { readonly mode: string; readonly content: string }>

type Forgery = (tree: Tree) => void

const file = (content: string, mode = '100644') => ({ mode, content })

const extra =
  (name: string, entry = file('x')): Forgery =>
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

/** What it is, how it is made, and for one of each kind the message. Unit tests have the other faults of each kind. */
const FORGERIES: readonly (readonly [string, Forgery, string?])[] = [
  ['a link to a file', extra('folder/plan.md', file('/etc/passwd', '120000')), 'it has more than plain files'],
  ['a link in place of a folder', extra('folder/artifacts', file('/tmp', '120000'))],
  ['an executable file', extra('folder/plan.md', file('x', '100755'))],
  ['a submodule', extra('folder/sub', file('1'.repeat(40), '160000'))],
  ['the name ..', extra('folder/..')],
  ['the name .git', extra('folder/.git')],
  ['a marker', extra('folder/.postflight-pending', file('{}')), 'is not a safe name'],
  ['a name with an escape sequence', extra('folder/a\u001b[2J.md')],
  ['names that differ in case', extra('folder/PLAN.md'), '"folder/plan.md" differ only in case'],
  ['another state', extra('folder/workflow/state.json', file('{}'))],
  ['the id of a run', extra('folder/workflow/id')],
  ['a record of a share', extra('folder/workflow/shared.json', file('{}'))],
  ['a file that no phase has', extra('folder/own.md'), '"own.md" is not a file of its workflow'],
  ['a file at the top', extra('run.sh', file('#!/bin/sh'))],
  ['an archive of an unknown phase', extra('folder/artifacts/other/1-plan.md')],
  ['a step result that is a program', extra('folder/step-results/plan/1-1.sh')],
  ['a path that is too deep', extra('folder/step-results/plan/visit-2/deeper/1-1.json')],
  ['no holder', (tree) => tree.delete('holder.json')],
  ['a folder outside of specs/', holder({ path: '../../evil' }), 'its holder.json is not valid'],
  ['no state', (tree) => tree.delete('state.json')],
  ['a state of another version', state({ version: 99 }), 'its state.json is not valid'],
  ['a state that is too large', (tree) => tree.set('state.json', file(' '.repeat(20_000_001))), 'larger than 20 MB'],
  [
    'a nested state',
    (tree) => tree.set('state.json', file('['.repeat(5e3))),
    'not valid (nested more than 1000 levels deep)',
  ],
  ['a state of another run', state({ id: 'wf_another' }), 'that of another run'],
  ['an artifact outside of the task folder', definition({ artifact: '../../.claude/settings.json' })],
  ['an artifact that is a marker', definition({ artifact: '.postflight-pending' })],
  ['a phase that leads nowhere', definition({ artifact: 'a.md', next: { pass: 'nowhere', fail: 'end' } })],
]

function writeTree(repository: string, tree: Tree): string {
  const lines: string[] = []
  const folders = new Map<string, Tree>()
  for (const [path, { mode, content }] of tree) {
    const [name = '', ...rest] = path.split('/')
    if (rest.length > 0) folders.set(name, (folders.get(name) ?? new Map()).set(rest.join('/'), { mode, content }))
    else if (mode === '160000') lines.push(`${mode} commit ${content}\t${name}\0`)
    else lines.push(`${mode} blob ${write(repository, ['hash-object', '-w', '--stdin'], content)}\t${name}\0`)
  }
  for (const [name, inner] of folders) lines.push(`040000 tree ${writeTree(repository, inner)}\t${name}\0`)
  return write(repository, ['mktree', '-z', '--missing'], lines.join(''))
}

const written = new Map<string, string>()

/** Writes each object once. */
function write(repository: string, words: readonly string[], input: string): string {
  const key = [repository, ...words, input].join(' ')
  const object = written.get(key) ?? execFileSync('git', words, { cwd: repository, input, encoding: 'utf8' }).trim()
  written.set(key, object)
  return object
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

/** Expects that status lists the runs of the remote, and that none of `ids` is taken. */
async function expectRefused(
  { two, ran }: { readonly two: Machine; readonly ran: string },
  ids: readonly (readonly [title: string, id: string, message?: string | undefined])[],
): Promise<void> {
  const before = two.snapshot()
  const status = await two.cli(['status', '--shared'])
  expect(status).toMatchObject({ status: 0 })
  expect(status.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
  for (const [title, id, message = ''] of ids) {
    const resumed = await two.workflow('resume', id, '--shared', '--trust', '--json')
    expect([1, 65], title).toContain(resumed.status)
    expect(resumed.json().error.code, title).toMatch(/^(?:shared-tree|shared-none|remote-unreachable)$/)
    expect(resumed.json().error.message, title).toContain(message)
    expect(resumed.stderr, title).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
    expect(two.snapshot(), title).toEqual(before)
    expect(existsSync(ran), title).toBe(false)
  }
}

describe('a forged run', () => {
  it('is refused with each fault; nothing is written and nothing runs', async () => {
    const { two, remote, id, tree, ran } = await released()
    const ids = FORGERIES.map(([title, forge, message], index) => {
      const forged = `${id}-${index}`
      const own = new Map(tree)
      state({ id: forged })(own)
      forge(own)
      const commit = git(remote, 'commit-tree', writeTree(remote, own), '-m', title)
      git(remote, 'update-ref', `refs/postflight/${forged}`, commit)
      return [title, forged, message] as const
    })
    await expectRefused({ two, ran }, ids)
    expect(await two.workflow('resume', id, '--shared')).toMatchObject({ status: 0 })
  })

  it('is refused if its ref is a blob or a tree', async () => {
    const { two, remote, ran, id } = await released()
    git(remote, 'update-ref', `refs/postflight/${id}`, write(remote, ['hash-object', '-w', '--stdin'], 'x'))
    git(remote, 'update-ref', 'refs/postflight/wf_tree', write(remote, ['mktree'], ''))
    await expectRefused({ two, ran }, [
      ['a blob', id],
      ['a tree', 'wf_tree'],
    ])
  })

  it('is not asked for by a name that is no id, whatever is below refs/postflight', async () => {
    const { two, remote, id } = await released()
    const head = git(remote, 'rev-parse', `refs/postflight/${id}`)
    for (const name of ['a/b', 'wf_@x', `${id}-lost-1`, '-x'])
      git(remote, 'update-ref', `refs/postflight/${name}`, head)
    const { runs, lost } = (await two.cli(['status', '--shared', '--json'])).json()
    expect(runs.map((one: { id: string }) => one.id)).toEqual([id])
    expect(lost).toEqual([`refs/postflight/${id}-lost-1`])
  })
})

it('starts no program that is named by the configuration of a partial clone, or of a folder like a bare repository', async () => {
  const { one } = createMachines(['one'])
  const ran = join(one.base, 'ran')
  const sh = (script: string) => execFileSync('sh', ['-ec', script], { cwd: one.dir, env: one.env, stdio: 'ignore' })
  sh(`touch specs/a && mkdir in && touch in/b && git add . && git -c user.name=a -c user.email=a@b commit -m x
    git sparse-checkout set --cone --sparse-index in && mkdir specs
    missing=$(git rev-parse HEAD:specs); rm -r .git/objects/\${missing%\${missing#??}}
    git config remote.origin.promisor true; git config remote.origin.uploadpack "echo ran > '${ran}'; git-upload-pack"`)
  await one.cli(['doctor'])
  expect(existsSync(ran)).toBe(false)
  sh('git config core.worktree . && mv .git/* . && rmdir .git')
  expect((await one.cli(['status', '--shared'])).stderr).toContain('bareRepository')
  expect(existsSync(ran)).toBe(false)
})
