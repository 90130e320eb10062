import * as z from 'zod/mini'
import { PostflightError } from '../../kernel/errors.ts'
import type { CommandContext, CommandResult } from '../../project/command-context.ts'
import type { DocumentOf } from '../../views/documents.ts'
import * as field from '../../views/documents.ts'
import { type ArgumentsOf, type BareCommand, type Declaration, example } from '../command.ts'
import { COMPLETION_SCRIPTS } from '../completion/scripts.ts'
import { OPTION_EXPECTATIONS } from '../usage-messages.ts'

/** `postflight completion`: prints the completion script of a shell. */

const WHERE = `
Put one line into the file that your shell reads at its start:
  bash  ~/.bashrc                    eval "$(postflight completion bash)"
  zsh   ~/.zshrc, after compinit     source <(postflight completion zsh)
  fish  ~/.config/fish/config.fish   postflight completion fish | source`

export const declaration = {
  declare: (command: BareCommand) =>
    command
      .description('print the completion script of a shell')
      .argument('<shell>', 'bash, zsh or fish')
      .addHelpText('after', example('completion bash', 'completion zsh', 'completion fish'))
      .addHelpText('after', WHERE),
} satisfies Declaration

/** `postflight completion --json`. */
export const document = () => z.strictObject({ script: field.text('The script that the shell reads.') })

type CompletionDocument = DocumentOf<typeof document>

/** @throws {PostflightError} `value-invalid`. */
export function run(
  _context: CommandContext,
  [shell]: ArgumentsOf<typeof declaration>,
): CommandResult<CompletionDocument> {
  const names = Object.keys(COMPLETION_SCRIPTS)
  if (!Object.hasOwn(COMPLETION_SCRIPTS, shell)) {
    const expected = OPTION_EXPECTATIONS.oneOf(names)
    throw new PostflightError('value-invalid', { option: '<shell>', value: shell, expected })
  }
  const script = COMPLETION_SCRIPTS[shell as keyof typeof COMPLETION_SCRIPTS]
  const lines = script.trimEnd().split('\n')
  return { exitCode: 0, data: { script }, lines, essential: lines }
}
