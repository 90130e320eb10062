import { describe, expect, it } from 'vitest'
import * as files from '../../../src/kernel/files.ts'

describe('file names that other programs rely on', () => {
  it('stay as they are', () => {
    expect(files).toMatchObject({
      ...{ SPECS_FOLDER: 'specs', MARKER_FILE: '.postflight-pending', LOOP_GUARD_FILE: '.postflight-loop-guard' },
      ...{ ABANDONED_FILE: '.postflight-abandoned', CLAIMS_FOLDER: '.postflight-claims' },
      ...{
        LOCK_FILE: '.postflight-lock',
        UNPARSED_FILE: '.postflight-unparsed',
        RETURN_META_FILE: '.return-meta.json',
      },
      ...{ JOURNAL_FOLDER: '.postflight', JOURNAL_FILE: 'journal.jsonl', OLD_JOURNAL_FILE: 'journal.old.jsonl' },
    })
  })

  it('no two are the same', () => {
    const names = Object.values(files)
    expect(new Set(names).size).toBe(names.length)
  })

  it('no other file of ours has a name that the search takes for a marker', () => {
    const others = Object.values(files).filter((name) => name !== files.MARKER_FILE)
    expect(others.filter((name) => name.startsWith(files.MARKER_FILE))).toEqual([])
  })
})
