import type { HostClient } from '../hosts/opencode/api.ts'
import { screenOf } from '../hosts/opencode/screen.ts'
import { findRoots, startFolders } from '../project/root.ts'
import { createReporter, type Reporter } from './reporter.ts'

/** The surroundings of a hook factory. */

/** What a factory needs: the input that OpenCode gives to every plugin. */
export interface HookContext {
  /** OpenCode's client. */
  readonly client: object
  /** The folder that OpenCode runs in. */
  readonly directory: string
}

/** The parts that factories use. The plugin hands over its own; for another plugin they are made from its input. */
export interface FactoryPorts {
  readonly client: HostClient
  readonly directory: string
  readonly reporter: Reporter
  /** True while the hooks of this plugin's instance should act. */
  readonly isActing: () => boolean
  /** The roots in which runs of a conversation may lie. */
  readonly findRoots: (conversation: string) => readonly string[]
}

/** The ports for a plugin's input: those that it has, and new ones for the rest. */
export function portsOf(context: HookContext & Partial<Omit<FactoryPorts, 'client'>>): FactoryPorts {
  const { directory } = context
  const client = context.client as HostClient
  const search = (): readonly string[] => findRoots(startFolders({ environment: process.env, cwd: directory }))
  return {
    client,
    directory,
    reporter: context.reporter ?? createReporter(client, search, screenOf(process.argv)),
    isActing: context.isActing ?? (() => true),
    findRoots: context.findRoots ?? search,
  }
}
