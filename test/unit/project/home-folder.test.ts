import os from 'node:os'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { PostflightError } from '../../../src/kernel/errors.ts'
import type { CommandContext } from '../../../src/project/command-context.ts'
import { homeFolder } from '../../../src/project/home-folder.ts'
import { unwiredNote } from '../../../src/setup/install/unwired.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

describe('the home folder of a user whom the user database does not know', () => {
  it.each(['', 'home'])('is an error that names HOME, where HOME is %j', (home) => {
    vi.stubEnv('HOME', home)
    vi.spyOn(os, 'userInfo').mockImplementation(() => {
      throw new Error('uv_os_get_passwd returned ENOENT')
    })
    expect(homeFolder).toThrow(expect.objectContaining({ code: 'home-unknown' }))
  })

  it('only costs create its note about the hook', () => {
    const findHome = (): never => {
      throw new PostflightError('home-unknown')
    }
    const environment = { CLAUDE_CODE_SESSION_ID: 's1' }
    const context = { environment, cwd: '/', packageFolder: '/nowhere', findHome } as unknown as CommandContext
    expect(unwiredNote(context, '/')).toBeUndefined()
  })

  it('is HOME if that is a full path', () => {
    vi.stubEnv('HOME', '/somewhere')
    expect(homeFolder()).toBe('/somewhere')
  })
})
