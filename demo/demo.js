// Prints a transcript of postflight-guard at work: real hook processes and payloads as Claude Code 2.1.329 sends them, in
// a throw-away project. `npm run demo` builds first.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import picocolors from 'picocolors'

const colours = picocolors
const packageFolder = fileURLToPath(new URL('..', import.meta.url))
const onWindows = process.platform === 'win32'

const project = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'postflight-demo-'))
process.on('exit', () => fs.rmSync(project, { recursive: true, force: true }))
// A `.git` entry makes the folder a project.
fs.mkdirSync(path.join(project, '.git'))

const SESSION = '5f0c1f2e-demo-session'
const WORKER = 'a73d3d628e49ce359'
const OTHER = 'b0ffeec0ffee00001'

// The environment of Claude Code's Bash tool: it names the session, but not the agent.
const environment = { PATH: process.env.PATH, HOME: project, CLAUDE_CODE_SESSION_ID: SESSION, CLAUDECODE: '1' }

/** Runs a `postflight` command as an agent's Bash tool does, and shows it. */
function postflight(...words) {
  const { status, printed } = run(words, environment)
  if (status !== 0) fail(`postflight ${words[0]} ended with ${status}`)
  return printed
}

function run(words, env) {
  say(`${colours.dim('$')} postflight ${words.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(' ')}`)
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [path.join(packageFolder, 'bin', 'postflight.js'), ...words],
    { cwd: project, env, encoding: 'utf8' },
  )
  show(stdout + stderr)
  return { status, printed: stdout }
}

/** Installs the hook in the project's settings, where `workflow start` looks for it. It shows nothing. */
function install() {
  const words = [path.join(packageFolder, 'bin', 'postflight.js'), 'install', '--scope', 'project']
  const run = spawnSync(process.execPath, words, { cwd: project, env: environment, encoding: 'utf8' })
  if (run.status !== 0) fail(`postflight install ended with ${run.status}: ${run.stderr}`)
}

/** Runs the hook as the host does, and shows its answer. */
function hook(payload, who) {
  const full = { session_id: SESSION, cwd: project, permission_mode: 'default', ...payload }
  const launcher = path.join(packageFolder, 'hooks', 'postflight-hook')
  // The entries of these two events name them, so that the launcher looks for a definition of done.
  const word = ['Stop', 'SessionStart'].filter((event) => event === payload.hook_event_name)
  const [program, ...words] = onWindows
    ? [process.execPath, path.join(packageFolder, 'dist', 'hook.js')]
    : [launcher, ...word]
  const run = spawnSync(program, words, {
    cwd: project,
    env: { ...environment, CLAUDE_PROJECT_DIR: project },
    input: JSON.stringify(full),
    encoding: 'utf8',
  })
  if (run.status !== 0) fail(`the hook ended with ${run.status}`)
  const answer = JSON.parse(run.stdout)
  if (who !== undefined) {
    const verdict =
      answer.decision === 'block' ? colours.yellow('blocked: it goes on') : colours.green('allowed: it stops')
    say(`${colours.cyan(`[${payload.hook_event_name}]`)} ${who} wants to stop → ${verdict}`)
  }
  return answer
}

const stop = (extra) => ({
  hook_event_name: 'Stop',
  stop_hook_active: false,
  last_assistant_message: 'Done.',
  background_tasks: [],
  ...extra,
})
const subagentStop = (agent) => ({
  ...stop({ hook_event_name: 'SubagentStop' }),
  agent_id: agent,
  agent_type: 'general-purpose',
})

function expect(condition, what) {
  if (!condition) fail(`expected ${what}`)
}

function fail(what) {
  console.error(`The demo failed: ${what}`)
  process.exit(1)
}

function say(text) {
  console.log(`  ${text}`)
}

function show(text, margin = '    ') {
  for (const line of text.trimEnd().split('\n')) console.log(colours.dim(margin + line))
}

function chapter(title, ...text) {
  console.log(`\n${colours.bold(title)}`)
  for (const line of text) say(line)
}

install()
console.log(colours.bold('postflight-guard: an agent does not stop before its work is done.'))
say(`(a throw-away project: ${project})`)

const write = (name, text) => {
  fs.mkdirSync(path.dirname(path.join(project, name)), { recursive: true })
  fs.writeFileSync(path.join(project, name), text)
}
write('src/sum.js', 'module.exports = (a, b) => a + b\n')
write(
  'test.js',
  "const sum = require('./src/sum.js')(1, 2)\nif (sum !== 3) {\n  console.log('sum(1, 2) is', sum)\n  process.exit(1)\n}\n",
)

chapter('1. A repository says once when work is done, and a person trusts that on this machine.')
write('specs/done.yaml', 'done:\n  - when: ["src/**"]\n    check: node test.js\n')
say(`${colours.dim('$')} cat specs/done.yaml`)
show(fs.readFileSync(path.join(project, 'specs', 'done.yaml'), 'utf8'))
const { CLAUDECODE: _agent, CLAUDE_CODE_SESSION_ID: _session, ...person } = environment
expect(run(['trust', '--yes'], person).status === 0, 'the trust')

chapter('2. An agent changes a source, and believes that it is done.')
hook({ hook_event_name: 'SessionStart', source: 'startup' })
say('The agent writes src/sum.js.')
write('src/sum.js', 'module.exports = (a, b) => a - b\n')
const notDone = hook(stop(), 'main')
expect(notDone.decision === 'block', 'a block')
say('The agent is told:')
show(notDone.reason, '    │ ')

chapter('3. It runs the checks, mends what they find, and stops.')
expect(run(['done'], environment).status === 1, 'a red check')
say('The agent mends src/sum.js.')
write('src/sum.js', 'module.exports = (a, b) => b + a\n')
postflight('done')
expect(hook(stop(), 'main').decision === undefined, 'main to be free')

chapter('4. Part two: markers. A skill starts task 259. Before it hands the work to a sub-agent, it creates a marker.')
const created = postflight(
  ...['create', '259', 'prove_completeness', '--skill', 'skill-lean-research', '--operation', 'research'],
  ...['--reason', 'Postflight pending: status update, artifact linking, git commit'],
  ...['--step', 'update status', '--step', 'link artifacts', '--step', 'git commit'],
)
say('Claude Code tells the hook which agent ran that command. Here it was the main conversation:')
hook({
  hook_event_name: 'PostToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'postflight create 259 …' },
  tool_response: { stdout: created, stderr: '' },
})
postflight('inspect', '259')

chapter('5. Sub-agents come and go. The marker is not theirs, so their stops are allowed.')
expect(hook(subagentStop(WORKER), 'the sub-agent of task 259').decision === undefined, 'the worker to be free')
expect(hook(subagentStop(OTHER), 'a sub-agent of another task').decision === undefined, 'the other one to be free')

chapter('6. The main conversation believes that it is done. It is not.')
const first = hook(stop(), 'main')
expect(first.decision === 'block', 'a block')
say('The agent is told:')
show(first.reason, '    │ ')
for (const name of ['second', 'third']) {
  say(`It tries again, for the ${name} time:`)
  expect(hook(stop({ stop_hook_active: true }), 'main').decision === 'block', 'a block')
}
say(
  `The loop guard says ${fs.readFileSync(path.join(project, 'specs', '259_prove_completeness', '.postflight-loop-guard'), 'utf8').trim()} of 3. The next stop would be allowed.`,
)

chapter('7. The agent does its postflight, ticks the checklist, and clears the marker.')
postflight('step', '259', 'update status')
postflight('step', '259', 'link artifacts')
postflight('step', '259', '3')
postflight('clear', '259')
expect(hook(stop(), 'main').decision === undefined, 'main to be free')

chapter(
  '8. The agent never does the postflight of task 260. It is not trapped: after three blocks its stop is allowed.',
)
postflight('create', '260', 'never_finished', '--operation', 'implement', '--agent', 'main')
for (let attempt = 1; attempt <= 3; attempt++) expect(hook(stop(), 'main').decision === 'block', 'a block')
const notice = hook(stop(), 'main')
expect(notice.decision === undefined, 'the cap')
say('The user sees:')
show(notice.systemMessage ?? '', '    │ ')
say('The abandoned marker stays, for a later session to adopt or clear:')
postflight('inspect')

chapter('9. In an emergency, the next stop can be allowed at once.')
postflight('create', '261', 'stuck', '--operation', 'plan', '--agent', 'main')
expect(hook(stop(), 'main').decision === 'block', 'a block')
postflight('bypass', '261')
expect(hook(stop(), 'main').decision === undefined, 'the bypass')

chapter('10. The journal lists all of this.')
postflight('logs')
chapter(
  '11. Part three: a workflow. It has four phases, each gated by a file that it must write; the third is a list of steps.',
)
const flow = path.join(packageFolder, 'examples', 'four-phases.yaml')
postflight('workflow', 'validate', flow)
postflight('workflow', 'start', '262', 'workflow', '--definition', flow)
say('From here on no person types anything. At every stop the hook checks the files and sends the next prompt.')
const inTask = (name) => path.join(project, 'specs', '262_workflow', name)
/** The work of a scripted model for each prompt. Its second step fails once. */
const work = [
  ['analyse', 'analysis.json', '{"missing": ["tests"]}'],
  ['plan', 'plan.json', '{"steps": ["write the tests", "make them pass"]}'],
  ['step 1 of 2, attempt 1', 'step-result.json', '{"success": true}'],
  ['step 2 of 2, attempt 1', 'step-result.json', '{"success": false, "summary": "two tests still fail"}'],
  ['step 2 of 2, attempt 2', 'step-result.json', '{"success": true}'],
  ['report', 'report.md', 'Tests were written, and they pass after a second try.\n'],
]
for (const [asked, name, text] of work) {
  const answer = hook(stop(), 'main')
  expect(
    answer.decision === 'block' && answer.reason.includes(asked.replace(/^(\w+)$/, 'phase "$1"')),
    `a prompt for ${asked}`,
  )
  show(answer.reason.split('\n')[0], '    │ ')
  say(`The agent writes ${name}${text.includes('false') ? `: ${text}` : '.'}`)
  fs.writeFileSync(inTask(name), text)
  if (asked === 'step 2 of 2, attempt 1') {
    hook(subagentStop(WORKER), 'the sub-agent that did the step')
    postflight('workflow', 'status', '262')
  }
}
const ended = hook(stop(), 'main')
expect(ended.decision === undefined, 'the end')
show(ended.systemMessage ?? '', '    │ ')
postflight('workflow', 'status', '262')
expect(
  fs.existsSync(inTask(path.join('step-results', 'execute', '2-1.json'))),
  'the archive to hold the failed attempt',
)
console.log(`\n${colours.green('The built hook and CLI have just run all of this.')}`)
