import { accessSync, constants, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { HOOK_SENTENCES } from '../../../src/kernel/error-messages.ts'
import { EXIT_CODES } from '../../../src/kernel/errors.ts'
import { installPacked, pack } from '../../support/packed.ts'
import { SESSION, subagentStop } from '../../support/payloads.ts'
import { CLI, PACKAGE, runProcess } from '../../support/process.ts'
import { claudeHookEnv, createProject } from '../../support/project.ts'

describe.concurrent('the package', () => {
  it.each(['hook.js', 'workflow.js', 'done-hook.js'])(
    '%s has the sentence of every error that it can throw',
    (name) => {
      const text = readFileSync(join(PACKAGE, 'dist', name), 'utf8')
      // As a value; a key of a table is followed by a colon.
      const thrown = Object.keys(EXIT_CODES).filter((code) => new RegExp(`[\`"']${code}[\`"'](?!:)`).test(text))

      expect(thrown.length).toBeGreaterThan(3)
      expect(thrown.filter((code) => !(code in HOOK_SENTENCES))).toEqual([])
    },
  )

  it('holds every file that is started, and no other large file', () => {
    const project = createProject()

    const { files } = pack(project.home, '--dry-run')

    const names = files.map((file) => file.path)
    expect(names).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'THIRD-PARTY-NOTICES',
        'README.md',
        'package.json',
        'settings.example.json',
        'bin/postflight',
        'bin/postflight.js',
        'hooks/postflight-hook',
        'plugin/skills/postflight/SKILL.md',
        'dist/hook.js',
        'dist/cli/cli.js',
        'dist/opencode/postflight-guard.mjs',
      ]),
    )
    const expected =
      /^(?:bin|dist|examples|hooks|plugin\/skills|schema)\/|^(?:LICENSE|THIRD-PARTY-NOTICES|README\.md|CHANGELOG\.md|package\.json|settings\.example\.json)$/
    expect(names.filter((name) => !expected.test(name))).toEqual([])
    expect(names.filter((name) => /\.(?:ts|map|tgz|log)$|test|node_modules/.test(name))).toEqual([])
    expect(files.filter((file) => file.size > 400_000)).toEqual([])
  })

  it.each([
    [['create', '259', 'x', '--step', 'one', '--json']],
    [['inspect', '--json']],
    [['step', '259', 'one', '--json']],
    [['bypass', '259', '--json']],
    [['adopt', '259', '--host-session', 's', '--json']],
    [['explain', '--json']],
    [['clear', '259', '--json']],
    [['logs', '--json']],
    [['workflow', 'status', '--json']],
  ])('%j loads no library that only other commands need', async (line) => {
    const project = createProject()
    project.marker('259_x', { steps: ['one'] })
    const probe = project.write(
      'probe.cjs',
      'process.on("exit", () => process.stderr.write(JSON.stringify(Object.keys(require.cache))))',
    )

    const run = await runProcess(process.execPath, ['--require', probe, CLI, ...line], {
      cwd: project.dir,
      env: project.env,
    })

    expect(run.status, run.stderr).toBe(0)
    const opened = (JSON.parse(run.stderr) as string[]).filter((file) => file !== probe)
    expect(opened).toContain(join(PACKAGE, 'dist', 'cli', 'cli.js'))
    // Words of jsonc-parser, zod and yaml, which read or describe settings, documents and definitions.
    const words = ['UnexpectedEndOfNumber', 'unrecognized_keys', 'TAB_AS_INDENT']
    const found = opened.filter((file) => words.some((word) => readFileSync(file, 'utf8').includes(word)))
    expect(found).toEqual([])
  })

  it('loads write-file-atomic only for the commands that write settings', async () => {
    const project = createProject()
    project.write('list.js', "process.on('exit', () => console.error(JSON.stringify(Object.keys(require.cache))))")
    const loadsIt = async (words: readonly string[]): Promise<boolean> => {
      const run = await project.cli(words, { env: { NODE_OPTIONS: `--require=${project.at('list.js')}` } })
      const loaded = JSON.parse(run.stderr.trim().split('\n').at(-1) as string) as string[]
      expect(
        loaded.filter((file) => file.startsWith(join(PACKAGE, 'dist'))),
        words.join(' '),
      ).not.toEqual([])
      // A word of write-file-atomic.
      return loaded.some((file) => readFileSync(file, 'utf8').includes('tmpfileCreated'))
    }
    const others = [
      '--help',
      'create 7 x',
      'inspect',
      'explain',
      'clear 7',
      'logs',
      'doctor',
      'workflow status',
      'hook',
    ]

    const found = await Promise.all(
      [...others, 'install', 'uninstall', 'init --dry-run'].map((words) => loadsIt(words.split(' '))),
    )

    expect(found).toEqual([...others.map(() => false), true, true, true])
    for (const name of ['hook.js', 'workflow.js', 'opencode/postflight-guard.mjs']) {
      expect(readFileSync(join(PACKAGE, 'dist', name), 'utf8').includes('tmpfileCreated'), name).toBe(false)
    }
  })

  it('has executable launchers', () => {
    const project = createProject()

    const { files } = pack(project.home, '--dry-run')

    for (const name of ['bin/postflight', 'bin/postflight.js', 'hooks/postflight-hook']) {
      const file = files.find((one) => one.path === name)
      expect((file?.mode ?? 0) & 0o111, name).not.toBe(0)
      accessSync(join(PACKAGE, name), constants.X_OK)
    }
  })

  it('names only existing files', () => {
    const { bin, files } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as {
      bin: Record<string, string>
      files: string[]
    }

    for (const name of [...Object.values(bin), ...files]) expect(statSync(join(PACKAGE, name))).toBeDefined()
  })

  it('holds no path of the machine that it was built on', () => {
    const project = createProject()

    const { files } = pack(project.home, '--dry-run')

    const places = [PACKAGE, process.env.HOME].filter((place) => place !== undefined && place.length > 6)
    const telling = files.filter((file) => {
      const text = readFileSync(join(PACKAGE, file.path), 'utf8')
      return places.some((place) => text.includes(String(place)))
    })
    expect(telling.map((file) => file.path)).toEqual([])
  })

  it('works after packing and unpacking, without any dependency: CLI, install, hook', async () => {
    const project = installPacked()
    const cli = (...words: string[]) =>
      runProcess(project.at('node_modules', '.bin', 'postflight'), words, { cwd: project.dir, env: project.env })

    const version = await cli('--version')
    const created = await cli('create', '259', 'x', '--host-session', SESSION, '--agent', 'agent-a')
    const installed = await cli('install')
    const explained = await cli('explain')
    const doctor = await cli('doctor')

    expect(version).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+/), stderr: '' })
    expect(created).toMatchObject({ status: 0, stderr: '' })
    expect(installed).toMatchObject({ status: 0, stderr: '' })
    expect(explained.status).toBe(0)
    expect(doctor, doctor.stdout).toMatchObject({ status: 0 })
    const { hooks } = JSON.parse(project.read('.claude/settings.json')) as {
      hooks: { SubagentStop: [{ hooks: [{ command: string }] }] }
    }
    const run = await project.hook(subagentStop(), {
      program: ['sh', '-c', hooks.SubagentStop[0].hooks[0].command],
      env: claudeHookEnv(project, SESSION),
    })
    expect(run.answer.decision).toBe('block')
  })

  it('exports only the plugin, under both of its names, and loads it without side effects', async () => {
    const project = installPacked()
    const script = `
      const before = Object.getOwnPropertyNames(globalThis).length
      const plugins = await Promise.all(['postflight-guard/opencode', 'postflight-guard/server'].map((name) => import(name)))
      const after = Object.getOwnPropertyNames(globalThis).length
      console.log(JSON.stringify(plugins.map((one) => [Object.keys(one), one.default.id, typeof one.default.server])), after - before)
    `
    project.write('load.mjs', script)
    const before = project.snapshot()

    const run = await runProcess(process.execPath, ['load.mjs'], { cwd: project.dir, env: project.env })

    const plugin = [['default'], 'postflight-guard', 'function']
    expect(run).toMatchObject({ status: 0, stdout: `${JSON.stringify([plugin, plugin])} 0\n`, stderr: '' })
    expect(project.snapshot()).toEqual(before)
    const text = readFileSync(project.at('node_modules/postflight-guard/dist/opencode/postflight-guard.mjs'), 'utf8')
    const imported = [...text.matchAll(/^import .* from ['"](.+)['"]/gm)].map((found) => String(found[1]))
    expect(imported.filter((name) => !/^node:|^\.\//.test(name))).toEqual([])
  })

  it('exports its schemas', async () => {
    const project = installPacked()
    const names = ['workflow.schema.json', 'done.schema.json', 'marker.schema.json', 'output/create.schema.json']
    const script = `console.log(JSON.stringify(process.argv.slice(1).map((name) => require('postflight-guard/schema/' + name).type)))`

    const run = await runProcess(process.execPath, ['-e', script, ...names], { cwd: project.dir, env: project.env })

    expect(run).toMatchObject({ status: 0, stdout: `${JSON.stringify(names.map(() => 'object'))}\n` })
  })

  it('starts its hook through the link that npm makes, and through a link to that link', async () => {
    const project = installPacked()
    const linked = project.at('node_modules', '.bin', 'postflight-hook')
    const again = join(project.base, 'bin', 'again')
    symlinkSync(linked, again)

    const nothing = await project.hook(subagentStop(), { program: [linked] })
    project.marker('259_x', { reason: 'pending' })
    const first = await project.hook(subagentStop(), { program: [linked] })
    const second = await project.hook(subagentStop(), { program: [again] })
    const byName = await project.hook(subagentStop(), {
      program: ['sh', '-c', 'postflight-hook'],
      env: { PATH: `${project.at('node_modules', '.bin')}:${project.env.PATH}` },
    })

    expect(nothing.stdout).toBe('{}\n')
    expect([first, second, byName].map((run) => run.answer.decision)).toEqual(['block', 'block', 'block'])
  })
})
