/** What file systems of other platforms answer. */

import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { makeFolders } from '../../../src/disk/folders.ts'
import { createWhole } from '../../../src/disk/write.ts'

function failing(call: 'linkSync' | 'mkdirSync', code: string): void {
  const spy = vi.spyOn(fs, call).mockImplementation(() => {
    throw Object.assign(new Error(code), { code })
  })
  onTestFinished(() => spy.mockRestore())
}

it.each(['EISDIR', 'EPERM', 'ENOSYS'])('a file is created where hard links end with %s', (code) => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'postflight-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true }))
  const file = join(folder, 'file')
  failing('linkSync', code)
  createWhole(file, 'text')
  expect(fs.readFileSync(file, 'utf8')).toBe('text')
})

it('the top of a drive is never made: Windows answers EPERM', () => {
  failing('mkdirSync', 'EPERM')
  expect(() => makeFolders('/')).not.toThrow()
})
