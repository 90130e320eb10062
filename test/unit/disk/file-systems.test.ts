import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, it, vi } from 'vitest'
import { makeFolders, moveInside } from '../../../src/disk/folders.ts'
import { createWhole } from '../../../src/disk/write.ts'

it('files and folders move to another file system; a link stays', () => {
  const folder = fs.mkdtempSync(`${tmpdir()}/postflight-`)
  const rename = vi.spyOn(fs, 'renameSync').mockImplementation(() => {
    throw Object.assign(new Error('EXDEV'), { code: 'EXDEV' })
  })
  fs.mkdirSync(`${folder}/out/deep`, { recursive: true })
  fs.writeFileSync(`${folder}/out/deep/a.md`, 'text')
  fs.symlinkSync('target', `${folder}/link`)
  moveInside(folder, 'out', 'artifacts', '1-out')
  expect(() => moveInside(folder, 'link', 'artifacts', '1-link')).toThrow('EXDEV')
  rename.mockRestore()
  expect(fs.readFileSync(`${folder}/artifacts/1-out/deep/a.md`, 'utf8')).toBe('text')
  expect(fs.readdirSync(folder)).toEqual(['artifacts', 'link'])
  fs.rmSync(folder, { recursive: true })
})

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
