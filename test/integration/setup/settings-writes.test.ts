import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { carryOut } from '../../../src/setup/install/target.ts'
import { replaceSettingsFile } from '../../../src/setup/settings-replace.ts'
import { CLI, canRun, type ProcessResult } from '../../support/process.ts'
import { createProject, type Project } from '../../support/project.ts'

/** Writing settings where only a part of them fits on the disk. */

const SETTINGS = '.claude/settings.json'

/** Settings of a given size in bytes, without our entries. */
function settingsOf(bytes: number): string {
  const frame = JSON.stringify({ note: '' })
  return frame.replace('""', `"${'x'.repeat(bytes - frame.length)}"`)
}

function filesIn(folder: string): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}

/** Expects only the old settings, and their backup if there was room for it. */
function expectAllWhole(run: ProcessResult, folder: string, before: string, backup: string | undefined): void {
  expect(run).toMatchObject({ status: 73, stdout: '' })
  expect(run.stderr).toMatch(/^postflight: cannot write \S+ \([^\n]+\n$/)
  const kept = backup === undefined ? {} : { 'settings.json.postflight-backup': backup }
  expect(filesIn(folder)).toEqual({ 'settings.json': before, ...kept })
}

/** The command that gives a process its own mounts: as root, or in a user namespace. */
const UNSHARE = ['unshare -m', 'unshare -rm'].find((command) => canRun(`${command} mount -t tmpfs tmpfs /tmp`))
const WHY_SKIPPED = 'needs a tmpfs, and none can be mounted here, neither by root nor in a user namespace'

/** A script. $1: the CLI, $2: its command, $3: the number of free pages. Each file takes whole pages. */
const ON_FULL_DISK = `
  set -e
  page=$(getconf PAGESIZE)
  mount -t tmpfs -o size=$((16 * page)) tmpfs disk
  mkdir disk/.claude
  cp before.json disk/${SETTINGS}
  if [ "$2" = uninstall ]; then
    node "$1" install --root disk > out.txt
    cp disk/${SETTINGS} installed.json
  fi
  head -c $((16 * page)) /dev/zero > disk/filler 2> err.txt || :
  truncate -s $(($(wc -c < disk/filler) - $3 * page)) disk/filler
  status=0
  node "$1" "$2" --root disk || status=$?
  cp -R disk/.claude after
  exit $status
`

/** Runs a command on settings of 5,000 bytes, with pages of 4,096. The files that it leaves are copied to "after". */
async function onFullDisk(command: string, freePages: number) {
  const project = createProject({ specs: false })
  const before = settingsOf(5000)
  project.write('before.json', before)
  project.write('script.sh', ON_FULL_DISK)
  mkdirSync(project.at('disk'))
  const run = await project.shell(`exec ${UNSHARE} sh script.sh '${CLI}' ${command} ${freePages}`)
  return { project, before, run }
}

describe.concurrent('on a full disk', () => {
  it.for([
    { command: 'install', free: 0, error: 'backup (ENOSPC)', fits: 'nothing' },
    { command: 'install', free: 1, error: 'backup (incomplete write)', fits: 'half of the backup' },
    { command: 'install', free: 2, error: 'settings.json (ENOSPC)', fits: 'the backup' },
    { command: 'install', free: 3, error: 'settings.json (incomplete write)', fits: 'half of the new settings too' },
    { command: 'uninstall', free: 0, error: 'settings.json (ENOSPC)', fits: 'nothing' },
    { command: 'uninstall', free: 1, error: 'settings.json (incomplete write)', fits: 'half of the former settings' },
  ])('$command changes nothing if this much fits: $fits', async ({ command, free, error }, { skip }) => {
    skip(UNSHARE === undefined, WHY_SKIPPED)
    const { project, before, run } = await onFullDisk(command, free)
    const settings = command === 'install' ? before : project.read('installed.json')
    expectAllWhole(run, project.at('after'), settings, error.startsWith('backup') ? undefined : before)
    expect(run.stderr).toContain(error)
  })

  it.for([
    ['install', 4],
    ['uninstall', 2],
  ] as const)('%s works where all of it fits', async ([command, free], { skip }) => {
    skip(UNSHARE === undefined, WHY_SKIPPED)
    const { project, before, run } = await onFullDisk(command, free)
    expect(run).toMatchObject({ status: 0, stderr: '' })
    const after = filesIn(project.at('after'))
    const backup = 'settings.json.postflight-backup'
    expect(after).toEqual({ 'settings.json': expect.any(String), ...(command === 'install' && { [backup]: before }) })
    const settings = JSON.parse(after['settings.json'] as string)
    expect(settings.note).toBe(JSON.parse(before).note)
    expect(settings.hooks === undefined).toBe(command === 'uninstall')
  })
})

/** Runs a command of the CLI whose files have a size limit, in blocks of 512 bytes. */
function withLimit(project: Project, blocks: string, command: string): Promise<ProcessResult> {
  return project.shell(`ulimit -f ${blocks}; exec node '${CLI}' ${command}`)
}

describe.concurrent('with a limit of 512 bytes per file', () => {
  it.each([
    { bytes: 400, limit: '0', error: 'backup (EFBIG)' },
    { bytes: 600, limit: '1', error: 'backup (incomplete write)' },
    { bytes: 400, limit: '1', error: 'settings.json (incomplete write)' },
  ])('install changes nothing in settings of $bytes bytes, limited to $limit: $error', async (one) => {
    const project = createProject()
    const before = settingsOf(one.bytes)
    project.write(SETTINGS, before)
    const run = await withLimit(project, one.limit, 'install')
    expectAllWhole(run, project.at('.claude'), before, one.error.startsWith('backup') ? undefined : before)
    expect(run.stderr).toContain(one.error)
  })

  it('install makes no settings if there are none', async () => {
    const project = createProject()
    const run = await withLimit(project, '1', 'install')
    expect(run).toMatchObject({ status: 73, stderr: expect.stringContaining('settings.json (incomplete write)') })
    expect(filesIn(project.at('.claude'))).toEqual({})
  })

  it('uninstall changes nothing', async () => {
    const project = createProject()
    const before = settingsOf(600)
    project.write(SETTINGS, before)
    await project.cli(['install'])
    const installed = project.read(SETTINGS)
    const run = await withLimit(project, '1', 'uninstall')
    expectAllWhole(run, project.at('.claude'), installed, before)
    expect(run.stderr).toContain('settings.json (incomplete write)')
  })
})

describe('settings that the host has changed since they were read', () => {
  it.each([
    ['replaced', (file: string) => replaceSettingsFile(file, 'ours', 'read')],
    ['removed', (file: string) => carryOut({ file, before: 'read', after: undefined, top: undefined })],
  ])('are not %s', (_, act) => {
    const project = createProject()
    project.write(SETTINGS, "the host's")
    expect(() => act(project.at(SETTINGS))).toThrow(expect.objectContaining({ code: 'file-changed' }))
    expect(project.read(SETTINGS)).toBe("the host's")
  })
})
