/** What Claude Code asks about with the permission rules that `init` writes, beside rules that allow every `postflight`. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { bash, say } from './agents.ts'
import { guardedProject } from './guarded.ts'

/** The ways to start the commands that can start a command of the agent's choice. */
const ASKED = [
  ...['postflight install', 'postflight --quiet install', 'postflight --root . install --reactive rules.json'],
  ...['postflight workflow start 259 --definition x', 'postflight --root . workflow start 259 --definition x'],
  ...['postflight --root=. workflow resume 259', 'postflight workflow --quiet start 259 --definition x'],
  ...['postflight workflow --root . resume 259', 'postflight  --json\tworkflow  start 259 --definition x'],
  ...['postflight --quiet "in"stall', 'cd . && postflight --quiet install', 'timeout 9 postflight --json install'],
  ...['npx --no-install postflight --root . install', 'npx --no-install postflight workflow -- start 259'],
  ...['postflight create 259 --check ls', 'postflight create 259 "--che"ck ls', 'postflight create 259 --ch\\eck ls'],
  ...['postflight --root . create 259 --step-check a=ls', 'postflight clear 259 --run-checks'],
  ...['postflight create 259 --{check,quiet} ls', 'X=--check; postflight create 259 $X ls'],
]

const NOT_ASKED = [
  ...['postflight create 259 other --reason "install and start it"', 'postflight step 259 "npm install"'],
  ...['postflight clear 259 --root .', 'postflight --root . status', 'postflight --version'],
  'npx --no-install postflight workflow next 259 --json',
]

describe.skipIf(hostsSkipped())('the permission rules', () => {
  it('make the client ask about whatever can start a command of the agent, with options at any place, and about nothing else', async () => {
    const guarded = guardedProject({ install: false, onPath: false })
    const { project } = guarded
    const run = guarded.postflight('init', '--yes', '--scope', 'project', '--skip', 'hook')
    expect(run, run.stderr).toMatchObject({ status: 0 })
    for (const name of ['postflight', 'npx']) {
      writeFileSync(join(project.bin, name), '#!/bin/sh\necho "started: $*"\n', { mode: 0o755 })
    }
    const trusted = { projects: { [project.dir]: { hasTrustDialogAccepted: true } } }
    writeFileSync(join(project.home, '.claude.json'), JSON.stringify(trusted))
    const commands = [...ASKED, ...NOT_ASKED]
    const { model } = await guarded.run(
      { main: [...commands.map(bash), say('Done.')] },
      { allowedTools: 'Bash(postflight *) Bash(npx *)' },
    )
    const results = model.turns('main').slice(1)
    const started = commands.filter((_, index) => results[index]?.lastToolResult?.startsWith('started:'))
    expect(results).toHaveLength(commands.length)
    expect(started).toEqual(NOT_ASKED)
  })
})
