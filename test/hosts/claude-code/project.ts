/** Creates throwaway projects for the real client: a folder below the system's temp folder, with a HOME beside it. */

import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'

/** The front matter of a skill or an agent: values that YAML writes on one line. */
export type FrontMatter = Record<string, string | number | boolean | readonly string[]>

export interface Project {
  /** The folder around everything below, which `remove` removes. */
  base: string
  /** The project's folder, its real path. */
  dir: string
  home: string
  /** A folder of links, first on `path`. */
  bin: string
  /** A PATH with this Node and the system's tools only. */
  path: string
  /** Writes a file of the project; `name` is relative to it. Returns the file's path. */
  write(name: string, text: string, mode?: number): string
  writeSkill(name: string, frontMatter: FrontMatter, body: string): string
  writeAgent(name: string, frontMatter: FrontMatter, body: string): string
  /** Writes `.claude/settings.json` from an object, or word for word from a string. */
  writeSettings(settings: object | string): string
  /** Adds a command to the client's PATH. */
  link(command: string, target: string): void
  remove(): void
}

export interface ProjectOptions {
  /** True to create a git repository with one commit. */
  git?: boolean
  /** The name of the project's folder. */
  folder?: string
  /** Another project, whose home and PATH this one shares. */
  beside?: Project
}

export function createProject(options: ProjectOptions = {}): Project {
  // The real path, because the client tells hooks the real one, and some systems' temp folder is a link.
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'postflight-host-')))
  const dir = join(base, options.folder ?? 'project')
  const { home, bin } = options.beside ?? { home: join(base, 'home'), bin: join(base, 'bin') }
  mkdirSync(dir)
  if (options.beside === undefined) {
    for (const folder of [home, bin]) mkdirSync(folder)
    symlinkSync(process.execPath, join(bin, 'node'))
  }
  const path = [bin, '/usr/bin', '/bin'].join(delimiter)

  const write = (name: string, text: string, mode?: number): string => {
    const file = join(dir, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    if (mode !== undefined) chmodSync(file, mode)
    return file
  }

  if (options.git === true) {
    const git = (...args: string[]): void => {
      execFileSync('git', args, { cwd: dir, env: { PATH: path, HOME: home } })
    }
    // The folder makes the commit a different one in each project.
    write('README.md', `# Throwaway project\n\n${dir}\n`)
    git('init', '--quiet', '--initial-branch=main')
    // Set in the repository, because the scripted agents commit too.
    git('config', 'user.name', 'Test')
    git('config', 'user.email', 'test@example.invalid')
    git('add', '.')
    git('commit', '--quiet', '-m', 'Start')
  }

  return {
    base,
    dir,
    home,
    bin,
    path,
    write,
    writeSkill: (name, frontMatter, body) =>
      write(`.claude/skills/${name}/SKILL.md`, withFrontMatter({ name, ...frontMatter }, body)),
    writeAgent: (name, frontMatter, body) =>
      write(`.claude/agents/${name}.md`, withFrontMatter({ name, ...frontMatter }, body)),
    writeSettings: (settings) =>
      write(
        '.claude/settings.json',
        typeof settings === 'string' ? settings : `${JSON.stringify(settings, null, 2)}\n`,
      ),
    link: (command, target) => symlinkSync(target, join(bin, command)),
    remove: () => rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  }
}

function withFrontMatter(frontMatter: FrontMatter, body: string): string {
  const lines = Object.entries(frontMatter).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  return ['---', ...lines, '---', '', body, ''].join('\n')
}
