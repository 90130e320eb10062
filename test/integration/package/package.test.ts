import { accessSync, constants, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ERROR_CODES } from '../../../src/kernel/command-errors.ts'
import { HOOK_SENTENCES } from '../../../src/kernel/error-messages.ts'
import { installPacked, packOnce } from '../../support/packed.ts'
import { subagentStop } from '../../support/payloads.ts'
import { PACKAGE, runProcess } from '../../support/process.ts'
import { createProject, type JsonDocument, withMarker } from '../../support/project.ts'

describe.concurrent('the package', () => {
  it.each(['hook.js', 'workflow.js', 'done-hook.js'])(
    '%s has the sentence of every error that it can throw',
    (name) => {
      const text = readFileSync(join(PACKAGE, 'dist', name), 'utf8')
      // As a value; a key of a table is followed by a colon.
      const thrown = ERROR_CODES.filter((code) => new RegExp(`[\`"']${code}[\`"'](?!:)`).test(text))
      expect(thrown.length).toBeGreaterThan(3)
      expect(thrown.filter((code) => !(code in HOOK_SENTENCES))).toEqual([])
    },
  )

  it('holds every file that is started, and no other large file', () => {
    const { files } = packOnce()
    const names = files.map((file) => file.path)
    expect(names).toEqual(
      expect.arrayContaining([
        ...['LICENSE', 'THIRD-PARTY-NOTICES', 'README.md', 'package.json', 'settings.example.json', 'bin/postflight'],
        ...['bin/postflight.js', 'hooks/postflight-hook', 'plugin/skills/postflight/SKILL.md', 'dist/hook.js'],
        ...['dist/cli/cli.js', 'dist/opencode/postflight-guard.mjs'],
      ]),
    )
    const expected =
      /^(?:bin|dist|examples|hooks|plugin\/skills|schema)\/|^(?:LICENSE|THIRD-PARTY-NOTICES|README\.md|CHANGELOG\.md|package\.json|settings\.example\.json)$/
    expect(names.filter((name) => !expected.test(name))).toEqual([])
    expect(names.filter((name) => /\.(?:ts|map|tgz|log)$|test|node_modules/.test(name))).toEqual([])
    expect(files.filter((file) => file.size > 400_000)).toEqual([])
    // Yarn 4.18 leaves other packages in an archive, from which no shell can start the hook.
    expect(JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'))).toMatchObject({ preferUnplugged: true })
  })

  describe('as a command', () => {
    /** Words of jsonc-parser, zod and yaml, which read or describe settings, documents and definitions. */
    const READERS = ['UnexpectedEndOfNumber', 'unrecognized_keys', 'TAB_AS_INDENT']
    /** A word of write-file-atomic. */
    const WRITER = 'tmpfileCreated'
    /** A word of what reads the state of a run. */
    const RUNS = 'phase_attempts'

    /** The words in the files that a command line loads. */
    async function wordsLoadedBy(line: string): Promise<string[]> {
      const project = withMarker({ steps: ['one'] }, '259_x', createProject)
      project.write('list.js', "process.on('exit', () => console.error(JSON.stringify(Object.keys(require.cache))))")
      const run = await project.cli(line.split(' '), { env: { NODE_OPTIONS: `--require=${project.at('list.js')}` } })
      const opened = JSON.parse(run.stderr.trim().split('\n').at(-1) as string) as string[]
      expect(opened.filter((file) => file.startsWith(join(PACKAGE, 'dist')))).not.toEqual([])
      const texts = opened.map((file) => readFileSync(file, 'utf8'))
      return [...READERS, WRITER, RUNS].filter((word) => texts.some((text) => text.includes(word)))
    }

    it.each([
      ...['create 259 x --step one', 'inspect', 'step 259 one', 'bypass 259', 'adopt 259 --host-session s', 'explain'],
      ...['clear 259', 'logs'],
    ])('%s loads no library that only other commands need', async (line) => {
      expect(await wordsLoadedBy(`${line} --json`)).toEqual([])
    })

    it('workflow status loads only what reads runs', async () => {
      expect(await wordsLoadedBy('workflow status --json')).toEqual([RUNS])
    })

    it.each(['--help', 'doctor', 'hook'])('%s does not load write-file-atomic', async (line) => {
      expect(await wordsLoadedBy(line)).not.toContain(WRITER)
    })

    it.each(['install', 'uninstall', 'init --dry-run'])('%s loads write-file-atomic', async (line) => {
      expect(await wordsLoadedBy(line)).toContain(WRITER)
    })

    it.each(['hook.js', 'workflow.js', 'opencode/postflight-guard.mjs'])('%s has no write-file-atomic', (name) => {
      expect(readFileSync(join(PACKAGE, 'dist', name), 'utf8')).not.toContain(WRITER)
    })
  })

  it('has executable launchers', () => {
    const { files } = packOnce()
    for (const name of ['bin/postflight', 'bin/postflight.js', 'hooks/postflight-hook']) {
      expect((files.find(({ path }) => path === name)?.mode ?? 0) & 0o111, name).not.toBe(0)
      accessSync(join(PACKAGE, name), constants.X_OK)
    }
  })

  it('names only existing files', () => {
    const { bin, files }: JsonDocument = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'))
    for (const name of [...Object.values<string>(bin), ...files]) expect(statSync(join(PACKAGE, name))).toBeDefined()
  })

  it('holds no path of the machine that it was built on', () => {
    const { files } = packOnce()
    const places = [PACKAGE, process.env.HOME].filter((place) => place !== undefined && place.length > 6)
    const telling = files.filter((file) => {
      const text = readFileSync(join(PACKAGE, file.path), 'utf8')
      return places.some((place) => text.includes(String(place)))
    })
    expect(telling.map((file) => file.path)).toEqual([])
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
    const names = ['workflow.schema.json', 'done.schema.json', 'output/create.schema.json']
    const script = `console.log(JSON.stringify(process.argv.slice(1).map((name) => require('postflight-guard/schema/' + name).type)))`
    const run = await runProcess(process.execPath, ['-e', script, ...names], { cwd: project.dir, env: project.env })
    expect(run).toMatchObject({ status: 0, stdout: `${JSON.stringify(names.map(() => 'object'))}\n` })
  })

  it('starts its hook through the link that npm makes, and through a link to that link', async () => {
    const project = installPacked()
    const linked = project.at('node_modules', '.bin', 'postflight-hook')
    const again = join(project.base, 'bin', 'again')
    symlinkSync(linked, again)
    expect((await project.hook(subagentStop(), { program: [linked] })).stdout).toBe('{}\n')
    project.marker('259_x', { reason: 'pending' })
    const first = await project.hook(subagentStop(), { program: [linked] })
    const second = await project.hook(subagentStop(), { program: [again] })
    const byName = await project.hook(subagentStop(), {
      program: ['sh', '-c', 'postflight-hook'],
      env: { PATH: `${project.at('node_modules', '.bin')}:${project.env.PATH}` },
    })
    expect([first, second, byName].map((run) => run.answer.decision)).toEqual(['block', 'block', 'block'])
  })
})
