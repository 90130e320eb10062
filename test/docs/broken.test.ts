import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PACKAGE } from '../support/process.ts'
import { pageFaults } from './check-page.ts'
import { parsePage } from './pages.ts'

const STEP = 'postflight step 259 "a step"'
const CREATE = 'postflight create 259 a_slug --agent main'
const MADE = `before: ${CREATE}`
const PHASES = 'name: x\nphases:\n  - '
/** Without the hook in its settings, `create` would say so. */
const WIRED = 'before: postflight install'

/** A page with one block below an optional comment. */
function block(language: string, text: string, directions?: string): string {
  const comment = directions === undefined ? '' : `<!-- docs:\n${directions}\n-->\n`
  return `# Title\n\nText.\n\n${comment}\`\`\`${language}\n${text}\n\`\`\`\n`
}

const BROKEN: readonly (readonly [fault: string, page: string, said: RegExp])[] = [
  ['a command that does not exist', block('bash', 'postflight craete 259 x'), /page\.md:5: exit code 64 in line 6/],
  ['an option that does not exist', block('bash', `${CREATE}\npostflight clear 259 --al`), /exit code 64 in line 7/],
  ['a command that fails', block('bash', STEP, MADE), /exit code [1-9]\d* in line/],
  ['a failure in a pipe', block('sh', 'postflight step 259 "a step" | cat'), /exit code 1 in line 6/],
  ['a program that is not there', block('bash', 'my-agent'), /exit code 127/],
  ['another exit code', block('bash', 'postflight status --exit-code', MADE), /exit code 1 .*expected 0/],
  ['a failure before the last command', block('bash', 'false\ntrue', 'exits: 1'), /before the last command/],
  ['other output', block('console', `$ ${CREATE}\ncreated specs/260…`, WIRED), /printed\ncreated specs\/259_a_slug/],
  ['output that is missing', block('text', 'one\ntwo', 'output of: echo one'), /but the page shows/],
  ['a wrong command, not run', block('bash', 'postflight workflow strat 7', 'not run: asks'), /unknown command/],
  ['a script that does not exist', block('bash', 'npm run no-such-thing', 'not run: slow'), /no such script/],
  ['a wrong command in a sentence', 'Say `postflight clear --every`.\n', /page\.md:1: .*--every/],
  ['a command in a block that is not checked', block('text', '$ postflight status'), /commands in a block of text/],
  ['a fence without a language', block('', 'text'), /no language/],
  ['a direction that does not exist', block('bash', 'true', 'not-run: slow'), /unknown direction "not-run"/],
  ['JSON that does not parse', block('json', '{ "hooks": }'), /page\.md:5: .*JSON/],
  ['YAML that does not parse', block('yaml', 'a: b: c'), /Nested mappings/],
  ['an unknown event in settings', block('json', '{ "hooks": { "SubagentStopped": [] } }'), /\/hooks .*property name/],
  ['a workflow with an unknown field', block('yaml', `${PHASES}{ id: a, promt: b, artifact: c }`), /promt/],
  ['a workflow without sense', block('yaml', `${PHASES}{ id: a, prompt: b, artifact: c, next: d }`), /phase "d"/],
  ['a GitHub workflow without steps', block('yaml', 'on: push\njobs:\n  a:\n    runs-on: ubuntu-latest'), /steps/],
  ['a marker with a wrong type', block('json', '{ "cc_session_id": 7, "steps": "git commit" }'), /cc_session_id|steps/],
  ['a wrong option of the plugin', block('json', '{ "postReadNudge": { "evry": 5 } }'), /evry/],
  ['data of an unknown kind', block('json', '{ "a": 1 }'), /name its schema/],
  ['a link to a file that does not exist', '[a](docs/nothing.md)\n', /docs\/nothing\.md does not exist/],
  ['a link to a heading that does not exist', '# One\n\n[a](#two)\n', /no heading #two/],
  ['a test that does not exist', '`unit/nothing`', /the test unit\/nothing does not exist/],
  ['a picture that does not exist', '<img src="docs/nothing.svg">\n', /docs\/nothing\.svg does not exist/],
]

const SOUND: readonly (readonly [what: string, page: string])[] = [
  [
    'commands and their output',
    block(
      'console',
      `$ ${CREATE}\ncreated specs/259_a_slug/.postflight-pending  pf_…\n…\n$ postflight clear 259\n…`,
      WIRED,
    ),
  ],
  ['a failure that is announced', block('bash', `postflight status --exit-code`, `before: ${CREATE}\nexits: 1`)],
  [
    'a file for later blocks',
    `${block('yaml', 'name: x\nphases: [{ id: a, prompt: b, artifact: c }]', 'file: my.yaml')}\n${block('bash', 'postflight workflow validate my.yaml')}`,
  ],
  ['a block that continues', `${block('bash', CREATE)}\n${block('bash', 'postflight clear 259', 'continues')}`],
  ['a program without the real thing', block('bash', 'claude -p "do it"', 'stand-in: claude')],
  [
    'placeholders in sentences',
    '`postflight clear <task>` and `postflight create 259 …`, `--timeout N`, `postflight logs -n N`\n',
  ],
  ['links', '# One heading, two\n\n[a](#one-heading-two) [b](LICENSE) [c](docs/design.md#words)\n'],
]

describe.skipIf(process.platform === 'win32')('a page', () => {
  it.concurrent.each(BROKEN)('fails with %s', async (_fault, text, said) => {
    expect((await pageFaults(parsePage('page.md', text))).join('\n')).toMatch(said)
  })

  it.concurrent.each(SOUND)('passes with %s', async (_what, text) => {
    expect(await pageFaults(parsePage('page.md', text))).toEqual([])
  })

  it.concurrent('of the package fails when one of its commands is broken', async () => {
    const skill = readFileSync(join(PACKAGE, 'plugin/skills/postflight/SKILL.md'), 'utf8')
    const name = 'plugin/skills/postflight/SKILL.md'
    const broken = skill.replace('postflight clear 259', 'postflight clean 259')
    expect((await pageFaults(parsePage(name, broken))).join('\n')).toMatch(/exit code 64[\s\S]*did you mean clear/i)
  })
})
