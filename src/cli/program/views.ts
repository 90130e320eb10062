import type { Program, Run } from './bare-program.ts'
import { example } from './help-example.ts'

/** Declares the commands that show things: the report, the status line, completion. */

const WHERE = `
Put one line into the file that your shell reads at its start:
  bash  ~/.bashrc                    eval "$(postflight completion bash)"
  zsh   ~/.zshrc, after compinit     source <(postflight completion zsh)
  fish  ~/.config/fish/config.fish   postflight completion fish | source`

/** Adds those commands. */
export function addViewCommands(program: Program, run: Run): void {
  program
    .command('report')
    .description('tell the story of markers and runs, as text or as a single HTML page')
    .argument('[task]', 'only this task')
    .option('--html <file>', 'write the page to this file; "-" for stdout')
    .addHelpText('after', example('report --html report.html', 'report 259', 'report 259 --json'))
    .action((task, options) => run({ command: 'report', arguments: [task], options }))
  program
    .command('statusline')
    .description("print one short line for a host's status line, from its JSON on stdin")
    .addHelpText(
      'after',
      `${example('statusline < status.json')}\n\n\`postflight-hook StatusLine\` prints the same line, and does not start Node if there is nothing to show.`,
    )
    .action(() => run({ command: 'statusline', arguments: [], options: {} }))
  program
    .command('completion')
    .description('print the completion script of a shell')
    .argument('<shell>', 'bash, zsh or fish')
    .addHelpText('after', example('completion bash', 'completion zsh', 'completion fish'))
    .addHelpText('after', WHERE)
    .action((shell) => run({ command: 'completion', arguments: [shell], options: {} }))
  program
    .command('complete', { hidden: true })
    .description('print the words that may follow, for the scripts of `completion`')
    .argument('[words...]', 'the words of the line, the last one unfinished')
    .addHelpText('after', example('complete -- workflow st'))
    .action(async (words) => {
      const { completionRequest } = await import('../completion/request.ts')
      const request = completionRequest(program, words)
      return run({ command: 'complete', arguments: [request], options: {} }, request.root)
    })
}
