import { readFileSync } from 'node:fs'
import type * as z from 'zod/mini'
import type { CommandName } from '../../src/cli/commands/command-list.ts'

const FOLDER = '../../src/cli/commands'
const LIST = readFileSync(new URL(`${FOLDER}/command-list.ts`, import.meta.url), 'utf8')

/** The schema of each command's `--json` document, from the file that the list of commands loads. */
export const DOCUMENTS = Object.fromEntries(
  await Promise.all(
    Array.from(
      LIST.matchAll(/^ {2}'?([a-z][a-z ]*)'?: \{\s+declaration.*?import\('\.\/([\w-]+)\.ts'\)/gms),
      async ([, name, file]) => [
        name,
        ((await import(`${FOLDER}/${file}.ts`)) as { document: () => z.ZodMiniType }).document(),
      ],
    ),
  ),
) as Readonly<Record<CommandName, z.ZodMiniType>>
