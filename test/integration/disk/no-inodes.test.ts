import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SESSION, subagentStop } from '../../support/payloads.ts'
import { CLI, canRun, LAUNCHER } from '../../support/process.ts'
import { createProject } from '../../support/project.ts'

/** A file system without free inodes: files can be removed and renamed, but not created. */

const MARKER = JSON.stringify({ id: 'pf_abcdefghijkl', cc_session_id: SESSION, agent_id: 'agent-a', reason: 'MINE' })

/** The command that gives a process its own mounts: as root, or in a user namespace. */
const UNSHARE = ['unshare -m', 'unshare -rm'].find((command) => canRun(`${command} mount -t tmpfs tmpfs /tmp`))
const WHY_SKIPPED = 'needs a tmpfs, and none can be mounted here, neither by root nor in a user namespace'

/** A script. $1: a command to run with no inode left. "after" gets the task's files as they are then. */
const WITHOUT_INODES = `
  mount -t tmpfs -o size=1m,nr_inodes=40 tmpfs disk
  mkdir -p disk/.git disk/specs/259_x/.postflight-claims
  cp marker disk/specs/259_x/.postflight-pending
  echo broken > disk/specs/259_x/.postflight-abandoned
  echo 1 > disk/specs/259_x/.postflight-loop-guard
  echo f0-0 > disk/specs/259_x/.postflight-claims/pf_abcdefghijkl.1
  number=0
  while touch disk/filler-$number; do number=$((number + 1)); done 2> err.txt
  eval "$1"
  status=$?
  cp -R disk/specs/259_x after
  exit $status
`

async function withoutInodes(marker: string, command: string, input?: string) {
  const project = createProject({ specs: false })
  project.write('marker', marker)
  project.write('script.sh', WITHOUT_INODES)
  mkdirSync(project.at('disk'))
  const run = await project.shell(`exec ${UNSHARE} sh script.sh '${command}'`, input === undefined ? {} : { input })
  expect(project.read('err.txt')).toContain('No space left')
  return { project, run, left: readdirSync(project.at('after')).sort() }
}

describe.concurrent('if no inode is left,', () => {
  it.for([
    { how: 'clear 259', parses: true },
    { how: 'clear --all', parses: true },
    { how: 'clear 259', parses: false },
  ])('$how removes the marker (it parses: $parses), and keeps texts that do not parse', async (one, { skip }) => {
    skip(UNSHARE === undefined, WHY_SKIPPED)
    const text = one.parses ? MARKER : 'session_id=1'
    const { project, run, left } = await withoutInodes(text, `node "${CLI}" ${one.how} --root disk`)
    expect(run.status, run.stderr).toBe(0)
    expect(left.filter((name) => !name.startsWith('.postflight-unparsed'))).toEqual([])
    const kept = left.map((name) => readFileSync(project.at('after', name), 'utf8'))
    expect(kept.sort()).toEqual(one.parses ? ['broken\n'] : ['broken\n', text])
  })

  it('bypass changes nothing, and says that no stop is blocked and what to do', async ({ skip }) => {
    skip(UNSHARE === undefined, WHY_SKIPPED)
    const { project, run } = await withoutInodes(MARKER, `node "${CLI}" bypass 259 --root disk`)
    expect(run.status).toBe(73)
    expect(run.stderr).toMatch(
      /^postflight: cannot write in specs\/259_x .*the disk is full\. .* so none is blocked.*\n$/,
    )
    expect(run.stderr).toContain('`postflight clear 259_x --root disk` removes the marker')
    expect(project.read('after/.postflight-pending')).toBe(MARKER)
  })

  it('the hook allows the stop, and says why', async ({ skip }) => {
    skip(UNSHARE === undefined, WHY_SKIPPED)
    const hook = `cd disk; "${LAUNCHER}"; cd ..`
    const { project, run } = await withoutInodes(MARKER, hook, JSON.stringify(subagentStop()))
    expect(run.stdout).not.toContain('"block"')
    expect(run.stderr).toContain('ENOSPC')
    expect(project.read('after/.postflight-pending')).toBe(MARKER)
  })
})
