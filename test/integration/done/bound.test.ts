/** A definition of done blocks at most three stops of one prompt, whatever an agent, a formatter or a person does in between. */

import { readdirSync, rmSync } from 'node:fs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { agentShell } from '../../support/done-project.ts'
import { OTHER_SESSION, sessionStart, stop } from '../../support/payloads.ts'
import { createSourceProject, type Project } from '../../support/project.ts'

const AGENT = agentShell()

/** The session's folder, or a path at which nothing lies. */
function folderOf({ at, has }: Project): string {
  const names = has('specs/.postflight') ? readdirSync(at('specs/.postflight')) : []
  return `specs/.postflight/${names.find((one) => /^done-[0-9a-f]{16}$/.test(one)) ?? 'none'}`
}

const remove = (project: Project, name: string): void => rmSync(project.at(name), { recursive: true, force: true })

let edits = 0

/** What may happen between two stops. */
const ACTS: Readonly<Record<string, (project: Project) => unknown>> = {
  edit: (project) => project.write('src/a.ts', String(edits++)),
  'make a file': (project) => project.write(`src/${edits++}.ts`, ''),
  'remove a file': (project) => remove(project, `src/${edits - 1}.ts`),
  done: (project) => project.cli(['done'], AGENT),
  'done by a person': (project) => project.cli(['done', '--all']),
  'done in another session': (project) => project.cli(['done'], agentShell(OTHER_SESSION)),
  'clear all': (project) => project.cli(['clear', '--all'], AGENT),
  'clear unchecked': (project) => project.cli(['clear', '--all', '--unchecked'], AGENT),
  bypass: (project) => project.cli(['bypass', '--all'], AGENT),
  wait: (project) => project.cli(['wait', 'done', '--for', 'x'], AGENT),
  'remove the marker': (project) => remove(project, `${folderOf(project)}/.postflight-pending`),
  'remove marker and loop guard': (project) => {
    remove(project, `${folderOf(project)}/.postflight-pending`)
    remove(project, `${folderOf(project)}/.postflight-loop-guard`)
  },
  'remove the claims': (project) => remove(project, `${folderOf(project)}/.postflight-claims`),
  'remove what was given up': (project) => remove(project, `${folderOf(project)}/.postflight-abandoned`),
  'remove the folder': (project) => remove(project, folderOf(project)),
  'remove all of ours': (project) => remove(project, 'specs/.postflight'),
  'garble the loop guard': (project) =>
    project.has(folderOf(project)) && project.write(`${folderOf(project)}/.postflight-loop-guard`, 'x'),
  'garble the receipts': (project) =>
    project.has('specs/.postflight') && project.write('specs/.postflight/done-receipts.json', '['),
  compact: (project) => project.hook(sessionStart('compact')),
  nothing: () => undefined,
}

const REMOVE_COUNT = ['remove the folder', 'remove all of ours']

it('blocks at most three stops of one prompt', async () => {
  const someActs = fc.subarray(Object.keys(ACTS), { minLength: 1, maxLength: 4 })
  const anyActs = fc.array(someActs, { minLength: 5, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(anyActs, fc.boolean(), fc.boolean(), async (turns, hasPrompt, isGreen) => {
      const project = createSourceProject()
      project.write('specs/done.yaml', `done: [{ when: "src/**", check: ${isGreen ? '"true"' : '"false"'} }]`)
      project.write('src/a.ts', '')
      await project.cli(['trust', '--yes'])
      const transcript_path = project.transcript()
      await project.hook(sessionStart('startup', { transcript_path }))
      const prompt_id = hasPrompt ? 'prompt-1' : undefined
      let blocks = 0
      let stop_hook_active = false
      const removesCount = turns.flat().some((act) => REMOVE_COUNT.includes(act))
      for (const acts of turns) {
        for (const act of ['edit', ...acts]) await ACTS[act]?.(project)
        const { answer } = await project.hook(stop({ transcript_path, prompt_id, stop_hook_active }))
        stop_hook_active = answer.decision === 'block'
        if (stop_hook_active) blocks += 1
        // An allowed stop ends the chain. Another one of the same prompt is judged only if the count itself stays.
        if (removesCount && !stop_hook_active) break
      }
      expect(blocks).toBeLessThanOrEqual(3)
    }),
    {
      numRuns: 14,
      // Green checks, and a marker that is removed with its loop guard, end the marker's own count.
      examples: [
        [Array(5).fill(['done']), true, true],
        [Array(5).fill(['remove marker and loop guard']), true, false],
        [Array(5).fill(['remove all of ours', 'done']), true, false],
        [Array(5).fill(['remove all of ours', 'compact']), true, false],
      ],
    },
  )
}, 300_000)
