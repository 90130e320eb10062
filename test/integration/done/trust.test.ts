/** The copy of a definition of done that a person trusted: where it lies, and who shares it. */

import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { keepTrusted, readTrusted, trustedRoot } from '../../../src/done/trust-store.ts'
import { createSourceProject, linkWorktree, type Project } from '../../support/project.ts'

const RULES = [{ name: 'tests', when: ['src/**'], unless: ['src/x'], checks: ['npm test'], timeoutMs: 60_000 }]

function personOf({ home }: Project, environment: Record<string, string> = {}) {
  return { environment: { HOME: home, ...environment } }
}

describe('the trusted copy', () => {
  it('is outside the repository, for its user alone', () => {
    const project = createSourceProject()
    expect(readTrusted(project.dir, personOf(project))).toBeUndefined()
    keepTrusted(project.dir, { rules: RULES, fileHash: 'abc' }, personOf(project), 0)
    const nonce = expect.stringMatching(/^[0-9a-f]{32}$/)
    expect(readTrusted(project.dir, personOf(project))).toEqual({ rules: RULES, fileHash: 'abc', nonce })
    const store = join(project.home, '.local/state/postflight-guard/done')
    const [name = ''] = readdirSync(store)
    expect(JSON.parse(readFileSync(join(store, name), 'utf8'))).toMatchObject({
      root: project.dir,
      trusted: '1970-01-01T00:00:00Z',
    })
    expect(project.snapshot('specs')).toEqual({})
  })

  it('is in XDG_STATE_HOME if that is absolute', () => {
    const project = createSourceProject()
    const person = personOf(project, { XDG_STATE_HOME: join(project.base, 'state') })
    keepTrusted(project.dir, { rules: RULES, fileHash: 'abc' }, person, 0)
    expect(readTrusted(project.dir, person)).toBeDefined()
    expect(readTrusted(project.dir, personOf(project, { XDG_STATE_HOME: 'state' }))).toBeUndefined()
  })

  it('does not count for another root, or if it does not parse', () => {
    const project = createSourceProject()
    keepTrusted(project.dir, { rules: RULES, fileHash: 'abc' }, personOf(project), 0)
    expect(readTrusted(join(project.base, 'other'), personOf(project))).toBeUndefined()
    const store = join(project.home, '.local/state/postflight-guard/done')
    const [name = ''] = readdirSync(store)
    for (const text of ['', 'null', '{}', '{"file_hash":"x","done":[{"when":"../x","check":"y"}]}']) {
      writeFileSync(join(store, name), text)
      expect(readTrusted(project.dir, personOf(project)), text).toBeUndefined()
    }
    chmodSync(store, 0o000)
    expect(readTrusted(project.dir, personOf(project))).toBeUndefined()
    chmodSync(store, 0o700)
  })
})

/** Makes `worktree` a linked worktree of the project, as git does. */
function link(project: Project, worktree: string, back = join(worktree, '.git'), common = '../..'): void {
  const gitFolder = join(project.dir, '.git/worktrees/w')
  mkdirSync(gitFolder, { recursive: true })
  mkdirSync(join(worktree, 'specs'), { recursive: true })
  writeFileSync(join(worktree, '.git'), `gitdir: ${gitFolder}\n`)
  writeFileSync(join(gitFolder, 'gitdir'), `${back}\n`)
  writeFileSync(join(gitFolder, 'commondir'), `${common}\n`)
}

describe('a linked worktree', () => {
  it('shares the copy of its main checkout', () => {
    const project = createSourceProject()
    const worktree = join(project.base, 'worktree')
    link(project, worktree)
    expect(trustedRoot(worktree)).toBe(project.dir)
    keepTrusted(project.dir, { rules: RULES, fileHash: 'abc' }, personOf(project), 0)
    expect(readTrusted(worktree, personOf(project))?.rules).toEqual(RULES)
  })

  it('shares it with a root below the top', () => {
    const project = createSourceProject()
    const worktree = join(project.base, 'worktree')
    link(project, worktree)
    mkdirSync(join(worktree, 'packages/a/specs'), { recursive: true })
    expect(trustedRoot(join(worktree, 'packages/a'))).toBe(join(project.dir, 'packages/a'))
  })

  it('made by git is one', async () => {
    const project = createSourceProject({ git: false })
    expect(trustedRoot(await linkWorktree(project))).toBe(project.dir)
  })

  it.each<[string, (project: Project, worktree: string) => void]>([
    ['the main checkout names another worktree', (project, worktree) => link(project, worktree, '/elsewhere/.git')],
    ['the common folder is another one', (project, worktree) => link(project, worktree, undefined, '/tmp')],
    [
      'its .git is a link',
      (project, worktree) => {
        mkdirSync(worktree)
        symlinkSync(join(project.dir, '.git'), join(worktree, '.git'))
      },
    ],
    [
      'its .git holds anything else',
      (_project, worktree) => {
        mkdirSync(worktree)
        writeFileSync(join(worktree, '.git'), 'x'.repeat(10_000))
      },
    ],
  ])('is a folder of its own if %s', (_what, make) => {
    const project = createSourceProject()
    const worktree = join(project.base, 'worktree')
    make(project, worktree)
    expect(trustedRoot(worktree)).toBe(worktree)
  })
})
