import { rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PACKAGE, runProcess } from '../../support/process.ts'
import { copyPackage, createProject, type Project } from '../../support/project.ts'

/** A project whose build notes the files of dist/ at its end, and then fails if `fault` says so. */
function buildable(fault = ''): Project {
  const project = createProject()
  project.write('package.json', '{ "name": "built", "type": "module" }')
  project.write('main.js', 'console.log("new")')
  project.write(
    'tsdown.config.js',
    `import { readdirSync, writeFileSync } from 'node:fs'
    const look = { name: 'look', generateBundle() { writeFileSync('seen', String(readdirSync('dist'))); ${fault} } }
    export default { entry: { main: 'main.js' }, format: 'esm', dts: false, clean: false,
      outDir: process.env.POSTFLIGHT_BUILD_FOLDER, plugins: [look] }`,
  )
  project.write('dist/hook.js', 'old')
  return project
}

const build = (project: Project) =>
  runProcess(process.execPath, [join(PACKAGE, 'scripts', 'build.js')], { cwd: project.dir, env: project.env })

describe.concurrent('the build', () => {
  it('leaves dist/ as it is until the new one is complete, and keeps no file of the old one', async () => {
    const project = buildable()
    const run = await build(project)
    expect(run.status, run.stderr).toBe(0)
    expect(project.read('seen')).toBe('hook.js')
    expect(Object.keys(project.snapshot('dist'))).toEqual(['main.mjs'])
    expect(project.snapshot('.cache')).toEqual({})
  })

  it('leaves dist/ as it is if it fails', async () => {
    const project = buildable('throw new Error("no")')
    expect((await build(project)).status).toBe(1)
    expect(project.snapshot('dist')).toEqual({ 'hook.js': 'old' })
    expect(project.snapshot('.cache')).toEqual({})
  })
})

describe.concurrent.each([
  ['without dist/', (dist: string) => rmSync(dist, { recursive: true })],
  ['half of dist/', (dist: string) => ['hook.js', 'cli/cli.js'].map((file) => truncateSync(join(dist, file), 20_000))],
])('%s', (_, damage) => {
  function unbuilt(): { project: Project; cli: string } {
    const project = createProject()
    const folder = copyPackage(join(project.base, 'package'))
    damage(join(folder, 'dist'))
    return { project, cli: join(folder, 'bin', 'postflight.js') }
  }

  it('the CLI says in one line what is missing and what to do, also that Node is too old', async () => {
    const { project, cli } = unbuilt()
    const asOld = '--import "data:text/javascript,delete process.getBuiltinModule"'
    const old = await project.shell(`"${process.execPath}" ${asOld} "${cli}" status`)
    const run = await runProcess(process.execPath, [cli, 'status'], { cwd: project.dir, env: project.env })
    const json = await runProcess(process.execPath, [cli, 'status', '--json'], { cwd: project.dir, env: project.env })
    for (const one of [run, old]) expect(one).toMatchObject({ status: 70, stdout: '' })
    expect(run.stderr).toMatch(/^postflight: .*dist is missing or incomplete.*`npm ci && npm run build`.*`npm ci`.*\n$/)
    expect(old.stderr).toMatch(/^postflight: Node [\d.]+ is too old: postflight needs 20\.19 \(or 22\.12\) or later\n$/)
    expect(JSON.parse(json.stdout)).toEqual({ error: { code: 'internal', message: expect.stringContaining('dist') } })
  })

  it('the hook allows the stop', async () => {
    const { project, cli } = unbuilt()
    const run = await runProcess(process.execPath, [cli, 'hook'], { cwd: project.dir, env: project.env, input: '{}' })
    expect(run).toMatchObject({ status: 0, stdout: '{}\n', stderr: expect.stringContaining('npm run build') })
  })
})
