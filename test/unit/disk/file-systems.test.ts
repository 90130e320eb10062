import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, it, vi } from 'vitest'
import { makeFolders } from '../../../src/disk/folders.ts'
import { createWhole } from '../../../src/disk/write.ts'

it('Windows answers EISDIR to a link on exFAT, and EPERM to a new folder in place of a drive', () => {
  const folder = fs.mkdtempSync(`${tmpdir()}/postflight-`)
  for (const [call, code] of [['linkSync', 'EISDIR'] as const, ['mkdirSync', 'EPERM'] as const]) {
    vi.spyOn(fs, call).mockImplementationOnce(() => {
      throw Object.assign(new Error(code), { code })
    })
  }
  makeFolders('/')
  createWhole(`${folder}/file`, 'text')
  expect(fs.readdirSync(folder)).toEqual(['file'])
  fs.rmSync(folder, { recursive: true })
})
