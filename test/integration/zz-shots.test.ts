import { cpSync, rmSync } from 'node:fs'
import { it } from 'vitest'
import { createSourceProject } from '../support/project.ts'
import { promiseLines, reportRun, writeMarker, writeRun } from '../support/report-project.ts'

it('makes a sample', async () => {
  const project = createSourceProject({ name: 'prove-completeness' })
  const now = Date.now(); const H = 3_600_000
  const t = now - 30 * H
  let j = ''
  j += promiseLines('257_parser', t, 'cleared')
  j += promiseLines('257_parser', t + 1 * H, 'waited')
  writeRun(project, '257_parser', reportRun(t + 0.2*H, 'completed'))
  j += promiseLines('258_deploy', t + 2 * H, 'capped')
  writeMarker(project, '258_deploy', t + 2 * H, { steps: [{name:'update status',done:true},{name:'git commit',done:false}]}, true)
  j += promiseLines('259_prove_completeness', now - 5*H, 'cleared')
  j += promiseLines('259_prove_completeness', now - 0.4*H, 'open')
  writeMarker(project, '259_prove_completeness', now - 0.4*H, { steps: [{name:'update status',done:true},{name:'link artifacts',done:false},{name:'git commit',done:false}], checks: [{run:'npm test'}]})
  writeRun(project, '259_prove_completeness', reportRun(now - 4*H, 'stalled'))
  j += promiseLines('260_release_notes', now - 3*H, 'waited')
  writeRun(project, '260_release_notes', reportRun(now - 0.7*H, undefined))
  project.write('specs/.postflight/journal.jsonl', j)
  rmSync('/tmp/w20a-shots/project', { recursive: true, force: true })
  cpSync(project.dir, '/tmp/w20a-shots/project', { recursive: true })
})
