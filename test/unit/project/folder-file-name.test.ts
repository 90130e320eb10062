import { expect, it } from 'vitest'
import { fileNameOf, pathOfFileName } from '../../../src/project/task-folder.ts'

it.each([
  ['', '%'],
  ['259_login', '259_login'],
  ['archive/259_login', 'archive%259_login'],
])('the folder at "%s" below specs/ has the file name "%s", which is read back', (below, name) => {
  expect(fileNameOf(below)).toBe(name)
  expect(pathOfFileName(name)).toBe(below)
})
