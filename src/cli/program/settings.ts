import { HOST_TITLES } from '../../hosts/hook-hosts.ts'
import { listed } from '../../kernel/phrases.ts'
import type { Program, Run } from './bare-program.ts'
import { example } from './help-example.ts'
import { collect } from './option-parsing.ts'

/** Declares the commands that wire the guard into a host, and the one that checks it. */

const HOST = listed(Object.keys(HOST_TITLES), 'or')
const SCOPE =
  "project (.claude/settings.json, opencode.json, .codex/hooks.json, …), local (.claude/settings.local.json) or user (the host's own folder)"

const OTHER_HOSTS = `
For another host: \`postflight install --host opencode\`, then \`postflight init --skip hook --skip permissions\`.`

export function addSettingsCommands(program: Program, run: Run): void {
  program
    .command('init')
    .description('set a project up for Claude Code: hook, permission rules, .gitignore and a skill; asks first')
    .option(
      '--scope <scope>',
      'project, local or user (default: project if it depends on postflight-guard, else local)',
    )
    .option('--skip <part>', 'leave out hook, shell-hook, permissions, gitignore or skill (repeatable)', collect, [])
    .option('--yes', 'do not ask', false)
    .option('--dry-run', 'only print what would be written', false)
    .option('--force', 'even if the hook is installed in another place', false)
    .addHelpText('after', `${example('init', 'init --yes --skip skill', 'init --dry-run')}\n${OTHER_HOSTS}`)
    .action((options) => {
      const { scope, skip, yes, dryRun, force } = options
      return run({ command: 'init', arguments: [], options: { scope, skip, yes, dryRun, force } })
    })
  program
    .command('install')
    .description("add the hook (or the plugin) to a host's settings")
    .option('--host <name>', HOST, 'claude')
    .option('--scope <scope>', SCOPE, 'project')
    .option(
      '--reactive <file>',
      'write the reactive rules of a JSON file as hooks of Claude Code instead; they replace the rules that are there',
    )
    .option('--dry-run', 'only print what would be written', false)
    .option('--force', 'even if the hook is installed in another place', false)
    .addHelpText(
      'after',
      example(
        'install --scope local',
        'install --scope user --dry-run',
        'install --reactive reactive.json --dry-run',
        'install --host codex',
        'install --host opencode --scope user',
      ),
    )
    .action((options) => run({ command: 'install', arguments: [], options }))
  program
    .command('uninstall')
    .description('undo install and init')
    .option('--host <name>', HOST, 'claude')
    .option('--scope <scope>', `${SCOPE} (default: the scope in the project that has it)`)
    .option('--dry-run', 'only print what would be written', false)
    .addHelpText('after', example('uninstall', 'uninstall --scope user --dry-run', 'uninstall --host opencode'))
    .action(({ host, scope, dryRun }) => run({ command: 'uninstall', arguments: [], options: { host, scope, dryRun } }))
  program
    .command('doctor')
    .description('check the installation and the markers; every problem comes with its fix')
    .addHelpText('after', example('doctor', 'doctor --json'))
    .action(() => run({ command: 'doctor', arguments: [], options: {} }))
}
