/** `postflight completion`, in the three shells themselves. */

import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { startFlow } from '../../support/flow.ts'
import { CLI, canRun, skipNote } from '../../support/process.ts'
import { createSourceProject, type Project } from '../../support/project.ts'

type Ask = (line: string) => Promise<string[]>

/** A name that would do harm if a shell ran it. */
const HOSTILE = '260_$(touch harm)'

let project: Project

beforeAll(async () => {
  project = createSourceProject()
  await project.cli(['create', '259', 'prove_completeness', '--step', 'update status', '--step', 'git commit'])
  await project.cli(['create', '7', 'flow'])
  project.write(`specs/${HOSTILE}/x`, '')
  project.write('flow.yaml', '')
  project.write('notes/page.html', '')
  project.write('my notes/other.yaml', '')
  // As a person has it: a command on the PATH.
  const command = join(project.base, 'bin', 'postflight')
  writeFileSync(command, `#!/bin/sh\nexec node "${CLI}" "$@"\n`)
  chmodSync(command, 0o755)
})

async function run(shell: string, script: string): Promise<string[]> {
  const file = project.write(`.cache/ask-${shell}-${script.length}-${Math.random()}`, script)
  const { stdout, stderr, status } = await project.shell(`${shell} "${file}"`)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout.split('\n').filter((line) => line !== '')
}

/** The words of a line as bash gives them: `=` is a word of its own. */
const bash: Ask = async (line) => {
  const words = line.split(/(=)| /).filter((word) => word !== undefined)
  const list = words.map((word) => `'${word}'`).join(' ')
  return run(
    'bash --norc',
    `eval "$(postflight completion bash)"
complete -p postflight >/dev/null || exit 9
compopt() { [ "$*" = '-o filenames' ]; }
COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}
_postflight postflight '${words.at(-1)}' '${words.at(-2)}'
printf '%s\\n' "\${COMPREPLY[@]}"`,
  )
}

const fish: Ask = async (line) => {
  const lines = await run(
    'fish --no-config',
    `postflight completion fish | source
complete --do-complete '${line}'`,
  )
  return lines.map((one) => one.split('\t')[0] ?? '')
}

/** zsh completes only on a terminal, which its own module provides; what it would insert is caught at compadd. */
const zsh: Ask = async (line) => {
  const lines = await run(
    'zsh -f',
    `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; autoload -U compinit; compinit -u -D; source <(postflight completion zsh)"
zpty -w shell "compadd() { builtin compadd -O found \\"\\$@\\"; builtin compadd \\"\\$@\\"; (( \\$#found )) && print -rl -- \\$found >>'${project.at('.cache', 'zsh')}' }"
zpty -w shell "print -n >'${project.at('.cache', 'zsh')}'; print READY"
zpty -r -m shell found '*READY*READY*'
zpty -w -n shell ${JSON.stringify(line.replaceAll('$', '\\$'))}$'\\t'
for try in {1..100}; do [[ -s '${project.at('.cache', 'zsh')}' ]] && break; sleep 0.1; done
sleep 0.2
zpty -d shell
cat '${project.at('.cache', 'zsh')}'`,
  )
  return [...new Set(lines)]
}

for (const [shell, ask] of Object.entries({ bash, zsh, fish })) {
  // CI installs all three: .ci/run.
  const isInstalled = canRun(`command -v ${shell}`)
  const note = skipNote(isInstalled, `${shell} is not installed`)
  describe.skipIf(!isInstalled)(`completion in ${shell}${note}`, () => {
    it('offers commands that begin with the word', async () => {
      expect((await ask('postflight workflow st')).sort()).toEqual(['start', 'status', 'stop'])
    })

    it('offers the options of a command, and those of every command', async () => {
      const options = await ask('postflight clear --')
      expect(options).toEqual(expect.arrayContaining(['--all', '--orphaned', '--root', '--json']))
      expect(options).not.toContain('--step')
    })

    it('offers files if a file is wanted, also after an equals sign', async () => {
      expect(await ask('postflight workflow validate fl')).toContain('flow.yaml')
      expect((await ask('postflight workflow start 7 --definition=fl')).join()).toMatch(/(?:^|=)flow\.yaml$/)
    })

    it('completes a word that begins with a quote, and leaves the quotes to the shell', async () => {
      expect(await ask('postflight step 259 "upd')).toEqual(['update status'])
    })

    it('quotes a name that the shell would run', async () => {
      const [word] = await ask('postflight clear 260')
      // fish and zsh quote what they insert; bash inserts what it is given.
      expect(word).toBe(shell === 'bash' ? '260_\\$\\(touch\\ harm\\)' : HOSTILE)
      expect(project.has('harm')).toBe(false)
    })
  })
}

describe('completion', () => {
  it.skipIf(!canRun('command -v fish'))('offers files of a folder whose name fish quotes', async () => {
    const words = ['my\\ notes/', '"my notes/']
    const lines = words.flatMap((word) => [`validate ${word}`, `start 7 --definition=${word}`])
    for (const line of lines) expect((await fish(`postflight workflow ${line}`)).join()).toContain('other.yaml')
  })

  it('offers the steps of the task on the line', async () => {
    const { words } = (await project.cli(['complete', '--json', '--', 'step', '259', ''])).json()
    expect(words.map(({ value }: { value: string }) => value)).toEqual(['update status', 'git commit'])
  })

  it('offers task folders as names and as paths, and none of our own', async () => {
    const word = async (begin: string) => (await project.cli(['complete', '--', 'clear', begin])).stdout.split('\t')[0]
    expect(await word('25')).toBe('259_prove_completeness')
    expect(await word('specs/25')).toBe('specs/259_prove_completeness')
    project.write('specs/.postflight/given-up/x', '')
    expect(await word('.')).toBe('')
  })

  it('offers the numbers of the steps of a run, and what they are', async () => {
    const steps = await startFlow([{ id: 'build', steps: ['parser', 'tests'], step_prompt: 'Do {{step}}.' }])
    await steps.cli(['workflow', 'next', '7'])
    const run = await steps.cli(['complete', '--', 'workflow', 'retry', '7', '--step', ''])
    expect(run.stdout).toBe('1\tparser\n2\ttests\n')
  })

  it('refuses a shell that it has no script for', async () => {
    const refused = await project.cli(['completion', 'tcsh'])
    expect(refused).toMatchObject({ status: 64, stderr: expect.stringContaining('must be one of bash, zsh, fish') })
  })

  it('looks in the root that the line names', async () => {
    const elsewhere = createSourceProject({ specs: false })
    const env = { HOME: project.dir }
    const run = await elsewhere.cli(['complete', '--', '--root', '~', 'clear', '25'], { env })
    expect(run.stdout).toBe('259_prove_completeness\tspecs/259_prove_completeness\n')
  })

  it('offers only what needs no project if there is none', async () => {
    const none = createSourceProject({ specs: false })
    expect((await none.cli(['complete', '--', 'clear', ''])).stdout).toBe('')
    expect((await none.cli(['complete', '--', 'work'])).stdout).toMatch(/^workflow\t/)
  })
})
