import type * as z from 'zod/mini'
import { COMMANDS, type CommandName } from '../../src/cli/commands/command-list.ts'

/** The schema of each command's `--json` document, from the command's own file. */
export const DOCUMENTS = Object.fromEntries(
  await Promise.all(
    Object.keys(COMMANDS).map(async (name) => {
      const file = `../../src/cli/commands/${name.replaceAll(' ', '-')}.ts`
      return [name, ((await import(file)) as { document: () => z.ZodMiniType }).document()]
    }),
  ),
) as Readonly<Record<CommandName, z.ZodMiniType>>
