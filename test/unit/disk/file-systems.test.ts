import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, it, vi } from 'vitest'
import { makeFolders, move } from '../../../src/disk/folders.ts'
import { createWhole } from '../../../src/disk/write.ts'

const failOnce = (call: 'linkSync' | 'mkdirSync' | 'renameSync' | 'unlinkSync', code: string) =>
  vi.spyOn(fs, call).mockThrowOnce(Object.assign(new Error(code), { code }))

it('Windows answers EISDIR to a link on exFAT, and EPERM to a new folder in place of a drive; Linux EXDEV to a move', () => {
  const folder = fs.mkdtempSync(`${tmpdir()}/postflight-`)
  failOnce('linkSync', 'EISDIR')
  failOnce('mkdirSync', 'EPERM')
  makeFolders('/')
  createWhole(`${folder}/file`, 'text')
  expect(fs.readdirSync(folder)).toEqual(['file'])
  failOnce('renameSync', 'EXDEV')
  failOnce('unlinkSync', 'EACCES')
  expect(() => move(`${folder}/file`, `${folder}/copy`)).toThrow('EACCES')
  expect(fs.readdirSync(folder), 'no copy of a file that must stay').toEqual(['file'])
  fs.rmSync(folder, { recursive: true })
})
