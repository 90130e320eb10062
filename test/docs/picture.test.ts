import { expect, it } from 'vitest'
import { PACKAGE, runProcess } from '../support/process.ts'

it('the picture in README shows what the demo prints', async () => {
  const env = { PATH: process.env.PATH ?? '' }
  const run = await runProcess(process.execPath, ['demo/picture.js', '--check'], { cwd: PACKAGE, env, limitMs: 55_000 })
  expect(run, run.stderr).toMatchObject({ status: 0 })
})
