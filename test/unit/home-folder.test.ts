import os from 'node:os'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { CommandContext } from '../../src/cli/context.ts'
import { unwiredNote } from '../../src/cli/installation/unwired.ts'
import { PostflightError } from '../../src/core/errors.ts'
import { homeFolder } from '../../src/io/home-folder.ts'

afterEach(() => vi.restoreAllMocks())

describe('the home folder of a user whom the user database does not know', () => {
  it.each(['', 'home'])('is an error that names HOME, where HOME is %j', (home) => {
    vi.spyOn(os, 'homedir').mockReturnValue(home)
    vi.spyOn(os, 'userInfo').mockImplementation(() => {
      throw new Error('uv_os_get_passwd returned ENOENT')
    })

    expect(homeFolder).toThrow(expect.objectContaining({ code: 'home-unknown', exitCode: 64 }))
  })

  it('only costs create its note about the hook', () => {
    const findHome = (): never => {
      throw new PostflightError('home-unknown')
    }
    const environment = { CLAUDE_CODE_SESSION_ID: 's1' }
    const context = { environment, cwd: '/', packageFolder: '/nowhere', findHome } as unknown as CommandContext

    expect(unwiredNote(context, '/')).toBeUndefined()
  })

  it('is HOME where that is a full path', () => {
    vi.spyOn(os, 'homedir').mockReturnValue('/somewhere')

    expect(homeFolder()).toBe('/somewhere')
  })
})
