import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { pushRun, readTree, requireRemote, treeFault, writeTree } from '../../../src/run/shared/ref-store.ts'

let folder: string
let template: string
let emptyTree: string
const named = ['-c', 'user.name=a', '-c', 'user.email=a@b']
const git = (root: string, ...args: string[]) =>
  execFileSync('git', [...named, ...args], { cwd: root, encoding: 'utf8', input: '' }).trim()
/** A commit of the empty tree, which the template has. */
const commit = (root: string, text: string, ...parents: string[]) =>
  git(root, 'commit-tree', emptyTree, '-m', text, ...parents.flatMap((parent) => ['-p', parent]))

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'shared-'))
  git(folder, 'init', '-q', '--bare', 'remote')
  git(folder, 'init', '-q', 'one')
  git(join(folder, 'one'), 'remote', 'add', 'origin', `file://${join(folder, 'remote')}`)
  emptyTree = git(join(folder, 'one'), 'mktree')
  cpSync(join(folder, 'one'), join(folder, 'two'), { recursive: true })
  template = `${folder}-template`
  cpSync(folder, template, { recursive: true })
})
beforeEach(() => {
  rmSync(folder, { recursive: true, force: true })
  cpSync(template, folder, { recursive: true })
})
afterEach(() => vi.unstubAllEnvs())
afterAll(() => {
  for (const made of [folder, template]) rmSync(made, { recursive: true, force: true })
})

const call = (at: string, ms = 30_000) => ({ remote: 'origin', root: join(folder, at), until: performance.now() + ms })
const push = (commit: string, expected = '') => ({ run: 'r1', commit, expected })

test('a commit below the one that the ref holds counts as published', async () => {
  const first = commit(join(folder, 'one'), 'first')
  const second = commit(join(folder, 'one'), 'second', first)
  await pushRun(call('one'), push(second))
  expect(await pushRun(call('one'), push(first))).toEqual({ outcome: 'published', there: second })
})

test.each([
  ['update', 'echo "only on Mondays"; exit 1', 'remote: only on Mondays'],
  ['update', 'printf "\\n=====\\n\\nERROR: not you\\n\\n=====\\n"; exit 1', 'remote: ERROR: not you'],
  ['update', '[ -e a ] || { touch a; echo "cannot lock ref x: denied"; exit 1; }', 'remote: cannot lock ref x: denied'],
  ['post-receive', 'git update-ref -d refs/postflight/r1', 'it took the push, but its ref is unchanged'],
])('a remote that refuses by its hook %s is named with its reason: %s', async (hook, script, detail) => {
  writeFileSync(join(folder, 'remote/hooks', hook), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const pushed = await pushRun(call('one'), push(commit(join(folder, 'one'), 'first')))
  expect(pushed).toMatchObject({ outcome: 'failed', detail })
})

test('a URL is no remote, and a folder without a repository has none: git says so in English', async () => {
  vi.stubEnv('LC_ALL', 'C.UTF-8').stubEnv('LANGUAGE', 'de')
  const unknown = { code: 'remote-unknown' }
  await expect(requireRemote(call('one'), `file://${folder}/remote`)).rejects.toMatchObject(unknown)
  await expect(requireRemote(call('one'), 'up')).rejects.toMatchObject(unknown)
  await expect(requireRemote(call('one'), 'origin')).resolves.toHaveProperty('address', undefined)
  const args = { detail: expect.stringMatching(/^fatal: not a git repository/) }
  await expect(requireRemote(call('.'), 'origin')).rejects.toMatchObject({ code: 'git-failed', args })
})

test('a push runs no hook and ignores GIT_DIR of the environment', async () => {
  const one = join(folder, 'one')
  const ran = join(folder, 'ran')
  for (const hook of ['pre-push', 'reference-transaction'])
    writeFileSync(join(one, '.git/hooks', hook), `#!/bin/sh\necho ran > '${ran}'\n`, { mode: 0o755 })
  // The push updates a ref of the clone, which runs the hook `reference-transaction`.
  git(one, 'config', '--add', 'remote.origin.fetch', '+refs/postflight/*:refs/remotes/origin/postflight/*')
  const first = commit(one, 'first')
  rmSync(ran, { force: true })
  vi.stubEnv('GIT_DIR', join(folder, 'two/.git'))
  expect(await pushRun(call('one'), push(first))).toMatchObject({ outcome: 'published' })
  expect(existsSync(ran)).toBe(false)
})

test("the user's configuration in the environment counts", async () => {
  const one = join(folder, 'one')
  git(one, 'remote', 'set-url', 'origin', 'team:walk')
  vi.stubEnv('GIT_CONFIG_COUNT', '1')
  vi.stubEnv('GIT_CONFIG_KEY_0', `url.file://${join(folder, 'remote')}.insteadOf`)
  vi.stubEnv('GIT_CONFIG_VALUE_0', 'team:walk')
  expect(await pushRun(call('one'), push(commit(one, 'first')))).toMatchObject({ outcome: 'published' })
})

test('git may be elsewhere and look beyond a file system, gives at least its exit code, and is not started after the time limit', async () => {
  writeFileSync(join(folder, 'git'), '#!/bin/sh\nexit $GIT_DISCOVERY_ACROSS_FILESYSTEM$GIT_EXEC_PATH', { mode: 0o755 })
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`)
  vi.stubEnv('GIT_DISCOVERY_ACROSS_FILESYSTEM', '7').stubEnv('GIT_EXEC_PATH', '1')
  const args = { detail: 'git ended with exit code 71' }
  await expect(requireRemote(call('one'), 'origin')).rejects.toMatchObject({ args })
  vi.stubEnv('PATH', '/nonexistent')
  const late = { detail: 'it took too long, or answered too much' }
  await expect(requireRemote(call('one', 0), 'origin')).rejects.toMatchObject({ args: late })
})

test('at the time limit the whole process group of git ends', async () => {
  const one = join(folder, 'one')
  const first = commit(one, 'first')
  git(one, 'remote', 'set-url', 'origin', 'ssh://nobody@localhost/x')
  const pid = join(folder, 'pid')
  vi.stubEnv('GIT_SSH_COMMAND', `sh -c 'echo $$ > ${pid}; exec sleep 60' x`)
  expect(await pushRun(call('one', 1_500), push(first))).toMatchObject({ outcome: 'failed' })
  const left = Number(execFileSync('cat', [pid], { encoding: 'utf8' }))
  // A process that has ended may stay in the table until the machine's first process collects it.
  const state = () => spawnSync('ps', ['-o', 'stat=', '-p', String(left)], { encoding: 'utf8' }).stdout.trim()
  await vi.waitFor(() => expect(state()).toMatch(/^(Z.*)?$/))
})

test('files come back byte for byte, whatever attributes the repository has', async () => {
  const one = join(folder, 'one')
  writeFileSync(join(one, '.gitattributes'), '* text eol=lf filter=bad\n')
  git(one, 'config', 'filter.bad.clean', 'false')
  const call = { root: one, until: performance.now() + 30_000 }
  const files = new Map(
    Object.entries({ 'state.json': Buffer.from('{}\r\n'), 'folder/a/b.bin': Buffer.from([0, 255, 13, 10]) }),
  )
  expect(await readTree(call, await writeTree(call, files))).toEqual(new Map([...files].reverse()))
})

const faultOf = (...paths: string[]) => treeFault(paths.map((path) => ({ path, size: 1 })))

test.each([
  ...'.. ..\\..\\evil.md .git artifacts/.GIT .gitlab-notes.md .po\u017ftflight-pending .postflight-claims'.split(' '),
  ...['c:evil.md', 'NUL.md', 'aux.md', 'plan.md.', 'a\nb.md', 'a\u001b[2J.md'],
])('a file %j is refused: its name is not safe on every machine', (name) => {
  expect(faultOf('state.json', `folder/${name}`)).toBe(`"folder/${name}" is not a safe name on every machine`)
})

test('a name of another script, and one that begins or ends like a reserved one, is safe', () => {
  expect(faultOf('folder/Ü b.md', 'folder/a.git', 'folder/console.md', 'folder/a..b')).toBe(undefined)
})

test.each([
  ['folder/PLAN.md', '"folder/plan.md" and "folder/PLAN.md" differ only in case'],
  ['folder/PLAN.md/x', '"folder/plan.md" and "folder/PLAN.md" differ only in case'],
  ['FOLDER/x', '"folder" and "FOLDER" differ only in case'],
])('beside folder/plan.md, %s is refused', (path, fault) => {
  expect(faultOf('folder/plan.md', path)).toBe(fault)
})

test('1,000 files and 20 MB are allowed, more of either are not', () => {
  const names = Array.from({ length: 1_000 }, (_, index) => `folder/${index}`)
  expect(faultOf(...names, 'state.json', 'holder.json')).toBe(undefined)
  expect(faultOf(...names, 'state.json', 'holder.json', 'folder/x')).toBe('it has more than 1000 files')
  expect(treeFault([{ path: 'a', size: 20_000_000 }])).toBe(undefined)
  expect(treeFault(['a', 'b'].map((path) => ({ path, size: 10_000_001 })))).toBe('it is larger than 20 MB')
})
