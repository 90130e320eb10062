import { rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { git } from '../../stress/tables/git.ts'
import { SESSION, subagentStop } from '../../support/payloads.ts'
import { canRun, skipNote } from '../../support/process.ts'
import { createSourceProject, type Project } from '../../support/project.ts'
import { PATTERN_MARKER_QUOTED } from '../../unit/builders.ts'

/** Markers that other programs and older skills write, and the commands that they use. */

const HAS_JQ = canRun('command -v jq')
const FOLDER = 'specs/259_prove_completeness'
const MARKER = `${FOLDER}/.postflight-pending`
const GUARD = `${FOLDER}/.postflight-loop-guard`

/** Stage 1 of the pattern. A quoted delimiter keeps bash from expanding variables, so the text is not JSON. */
const stage1 = (delimiter: string): string => `
padded_num=$(printf "%03d" "$task_number")
mkdir -p "specs/\${padded_num}_\${project_name}"

cat > "specs/\${padded_num}_\${project_name}/.postflight-pending" << ${delimiter}
${PATTERN_MARKER_QUOTED}EOF
`
const STAGE_1 = stage1('EOF')

const STAGE_5 = `
padded_num=$(printf "%03d" "$task_number")
rm -f "specs/\${padded_num}_\${project_name}/.postflight-pending"
rm -f "specs/\${padded_num}_\${project_name}/.postflight-loop-guard"
rm -f "specs/\${padded_num}_\${project_name}/.return-meta.json"
`

const BASH_ENV = { task_number: '259', project_name: 'prove_completeness', session_id: 'sess_1736700000_abc123' }

function bash(project: Project, script: string) {
  return project.shell(script, { shell: 'bash', env: BASH_ENV })
}

describe.concurrent("the pattern's own bash lines", () => {
  it.each([
    [
      'with expanded variables',
      STAGE_1,
      /^Postflight pending: status update, artifact linking, git commit\nTask 259_prove_completeness: /,
    ],
    [
      'as first listed',
      stage1("'EOF'"),
      /^Postflight operations pending \(the marker specs\/259_prove_completeness\/\.postflight-pending has "\$session_id" in it: the heredoc was quoted, so its variables were not filled in/,
    ],
  ])('make a marker that blocks: %s', async (_what, script, reason) => {
    const project = createSourceProject()
    expect(await bash(project, script)).toMatchObject({ status: 0, stderr: '' })
    const first = await project.hook(subagentStop())
    const guard = await bash(project, `cat ${GUARD}`)
    const answers = [first.answer.decision]
    for (let index = 0; index < 3; index++) answers.push((await project.hook(subagentStop())).answer.decision)
    expect(first.answer.reason).toMatch(reason)
    expect(guard.stdout).toBe('1\n')
    expect(answers).toEqual(['block', 'block', 'block', undefined])
    expect(project.has(`${FOLDER}/.postflight-abandoned`)).toBe(true)
  })

  it('clear the marker: no stop is blocked any more, and the next marker starts with a new count', async () => {
    const project = createSourceProject()
    await bash(project, STAGE_1)
    await project.hook(subagentStop())
    await project.hook(subagentStop())
    await bash(project, STAGE_5)
    expect((await project.hook(subagentStop())).stdout).toBe('{}\n')
    await bash(project, STAGE_1)
    expect((await project.hook(subagentStop())).answer.reason).toContain('Blocked stop 1 of 3')
  })

  it.runIf(HAS_JQ)(`free a stuck agent by the jq line${skipNote(HAS_JQ, 'jq is not installed')}`, async () => {
    const project = createSourceProject()
    await bash(project, STAGE_1)
    await project.hook(subagentStop())
    const bypass = await bash(
      project,
      `marker_file=$(find specs -maxdepth 3 -name ".postflight-pending" -type f | head -1)
         jq '.stop_hook_active = true' "$marker_file" > marker.json && mv marker.json "$marker_file"`,
    )
    expect(bypass).toMatchObject({ status: 0, stderr: '' })
    expect((await project.hook(subagentStop())).stdout).toBe('{}\n')
    expect(project.snapshot(FOLDER)).toEqual({})
  })

  it('and the CLI take turns with one marker', async () => {
    const project = createSourceProject()
    await bash(project, STAGE_1)
    const created = await project.cli(['create', '259', '--session-id', BASH_ENV.session_id, '--json'])
    const inspected = await project.cli(['inspect', '--json'])
    await bash(project, STAGE_5)
    expect(created.json()).toMatchObject({ renewed: true, task: '259_prove_completeness' })
    expect(inspected.json().markers).toMatchObject([{ skill: 'skill-lean-research', operation: 'research' }])
    expect((await project.cli(['inspect', '--json'])).json().markers).toEqual([])
  })
})

describe.concurrent('a marker of any other form', () => {
  const MANY_KEYS = Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`k${at}`, at]))
  const WRONG = { session_id: 7, reason: ['a'], created: false, steps: {}, agent_id: [], stop_hook_active: 'true' }

  /** Texts of markers. The flag is true for a JSON object, which may be rewritten. */
  const FORMS: [form: string, content: string | Uint8Array, isObject: boolean][] = [
    ['made by touch', '', false],
    ['a bare id', 'sess_1736700000_abc123\n', false],
    ['a list', '[1, 2]', false],
    ['an object whose fields have other types', JSON.stringify(WRONG), true],
    ['UTF-16', Buffer.from('\ufeff{"reason":"x"}', 'utf16le'), false],
    ['binary', Buffer.from([0, 255, 254, 1, 2, 3, 128]), false],
    ['longer than any marker', 'x'.repeat(200_000), false],
    ['nested 20,000 deep', '['.repeat(20_000), false],
    ['an object of many keys', JSON.stringify(MANY_KEYS), true],
  ]

  it.each(FORMS)('blocks, and stays as it is: %s', async (_form, content) => {
    const project = createSourceProject({ files: { [MARKER]: content } })
    const { '.postflight-pending': before } = project.snapshot(FOLDER)
    const answers = []
    for (let index = 0; index < 4; index++) answers.push((await project.hook(subagentStop())).answer)
    expect(answers.map((answer) => answer.decision)).toEqual(['block', 'block', 'block', undefined])
    expect(answers[0]?.reason).toMatch(/^Postflight operations pending/)
    expect(answers[0]?.reason).toContain('postflight clear 259_prove_completeness')
    expect(project.snapshot(FOLDER)).toEqual({ '.postflight-abandoned': before })
  })

  const UNREADABLE = FORMS.filter(([, content, isObject]) => !isObject && content.length > 0)
  it.each(UNREADABLE)('is never deleted without a copy: %s', async (_form, content) => {
    const adopt = `adopt 259 --host-session ${SESSION}`
    for (const line of ['clear 259', 'bypass 259', adopt, 'create 259 --operation plan']) {
      const project = createSourceProject({ files: { [MARKER]: content } })
      const { '.postflight-pending': before } = project.snapshot(FOLDER)
      expect((await project.cli(line.split(' '))).status).toBe(0)
      expect(project.snapshot(FOLDER)['.postflight-unparsed'], line).toBe(before)
    }
  })

  it('is never cleared without a copy after it was abandoned', async () => {
    const project = createSourceProject({ files: { [MARKER]: 'sess_1' } })
    for (let index = 0; index < 4; index++) await project.hook(subagentStop())
    await project.cli(['clear', '259'])
    expect(project.snapshot(FOLDER)).toEqual({ '.postflight-unparsed': 'sess_1' })
  })

  it('blocks in specs/ itself, the old global place', async () => {
    const project = createSourceProject({ files: { 'specs/.postflight-pending': 'sess_1\n' } })
    const { answer } = await project.hook(subagentStop())
    for (const name of ['pending', 'loop-guard']) rmSync(project.at(`specs/.postflight-${name}`))
    expect(answer.reason).toContain('postflight clear .')
    expect((await project.hook(subagentStop())).stdout).toBe('{}\n')
  })
})

describe.concurrent("a skill's `git add -A` in the middle of its postflight", () => {
  it('adds no file of ours to the repository but marker and loop guard', async () => {
    const project = createSourceProject({ git: false })
    project.marker('259_prove_completeness', { cc_session_id: SESSION, agent_id: 'agent-a' })
    await project.hook(subagentStop())
    git(project.dir, 'init', '--quiet')
    git(project.dir, 'add', '-A')
    expect(git(project.dir, 'ls-files').trim().split('\n')).toEqual([GUARD, MARKER])
  })
})
