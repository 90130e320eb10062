import { PostflightError } from '../../kernel/errors.ts'
import { OPTION_EXPECTATIONS, USAGE_TEXT } from '../usage-messages.ts'
import type { Program, Run } from './bare-program.ts'
import { example } from './help-example.ts'

/** Declares the hook, the command that explains it, and the one that prints its journal. */

/** Adds those commands. */
export function addHookCommands(program: Program, run: Run): void {
  program
    .command('explain')
    .description("show the hook's answer to a payload, and why; writes nothing")
    .option('--payload <file>', 'the payload file, "-" for stdin (default: an empty payload)')
    .addHelpText(
      'after',
      example(
        `explain --payload - <<< '{"hook_event_name":"Stop","session_id":"5f0c1f2e-…"}'`,
        'explain --payload payload.json --json',
      ),
    )
    .action((options) => run({ command: 'explain', arguments: [], options }))
  program
    .command('hook')
    .description('run the hook: payload on stdin, answer on stdout')
    .addHelpText('after', example('hook < payload.json'))
    // bin/postflight.js starts the hook's bundle without loading this program.
    .action(() => {
      throw new PostflightError('usage', { detail: USAGE_TEXT.hookAlone })
    })
  program
    .command('logs')
    .description('print the journal')
    .option('-n, --count <number>', 'number of entries to print, from the end', '20')
    .option('--follow', 'keep printing new entries until Ctrl-C', false)
    .addHelpText('after', example('logs -n 50', 'logs --follow'))
    .action(({ count, follow }) =>
      run({ command: 'logs', arguments: [], options: { count: entryCount(count), follow } }),
    )
}

/** The value of `-n`. @throws {PostflightError} `value-invalid`. */
function entryCount(value: string): number {
  if (!/^\d+$/.test(value)) {
    throw new PostflightError('value-invalid', { option: '-n', value, expected: OPTION_EXPECTATIONS.wholeNumber })
  }
  return Number(value)
}
