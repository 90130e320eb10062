import path from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PostflightError } from '../../../src/kernel/errors.ts'
import { checkSlug, parseTaskName, parseTaskReference, taskFolderName } from '../../../src/project/task-folder.ts'
import { hasAllRuns } from '../../support/reached.ts'
import { anyUnits, holds, hostileText } from '../arbitraries.ts'

const pieces = fc.array(fc.constantFrom('.', '/', '\\', '-', 'a', '1', '_', ' ', ':', '\n'), { maxLength: 6 })
const anyName = fc.oneof(
  hostileText,
  anyUnits,
  pieces.map((parts) => parts.join('')),
)

/** The name, or undefined if it is refused with the expected error. Any other error fails the property. */
function accepted<T>(call: () => T): T | undefined {
  try {
    return call()
  } catch (error) {
    if (!(error instanceof PostflightError)) throw error
    expect(['task-invalid', 'slug-invalid']).toContain(error.code)
    return undefined
  }
}

describe('an accepted name', () => {
  it('is one folder directly below specs/ on every platform, and not an option', () => {
    let count = 0
    holds(1000)(anyName, fc.boolean(), (text, asSlug) => {
      const name = accepted(() => (asSlug ? (checkSlug(text) ?? text) : parseTaskReference(text)))
      if (typeof name !== 'string' || name === '.') return
      count += 1
      expect(name).toBe(text)
      expect(path.posix.dirname(path.posix.resolve('/specs', name))).toBe('/specs')
      expect(path.win32.dirname(path.win32.resolve('C:\\specs', name))).toBe('C:\\specs')
      expect(name.startsWith('-')).toBe(false)
      expect(name).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
    })
    if (hasAllRuns()) expect(count).toBeGreaterThan(50)
  })

  it('may be a number with any zeros before it', () => {
    holds()(fc.integer({ min: 0, max: 999_999 }), fc.nat(10), fc.constantFrom('_', '-'), (number, zeros, separator) => {
      expect(parseTaskReference('0'.repeat(zeros) + number)).toBe(number)
      const name = { number, separator, slug: 'x' }
      expect(parseTaskName(taskFolderName(name))).toEqual(name)
    })
  })
})
