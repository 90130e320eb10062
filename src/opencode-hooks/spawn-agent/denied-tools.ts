import type { HostClient } from '../../hosts/opencode/api.ts'
import { need } from '../../hosts/opencode/refusal.ts'
import { WORKFLOW_TOOL } from '../../hosts/opencode/tool-names.ts'

/** The tools that are switched off for a sub-agent. */

/** With these, a person would have to answer, or the sub-agent would start others that its time limit does not end. */
const ALWAYS = ['question', 'task', WORKFLOW_TOOL]

/** Tools that OpenCode allows and denies together, by the name of the first (1.18.34). */
const EDITING = ['edit', 'write', 'apply_patch']

/**
 * The tools to switch off so that only `allowed` are left; without it, only those that no sub-agent may use. Nothing is
 * switched on: that would also allow what the user denied (1.18.34). @throws {HostRefusal} when OpenCode does not answer.
 */
export async function deniedTools(
  client: HostClient,
  allowed: readonly string[] | undefined,
): Promise<Record<string, false>> {
  const denied = [...ALWAYS, ...(allowed === undefined ? [] : await unlisted(client, allowed))]
  return Object.fromEntries(denied.map((name) => [name, false]))
}

async function unlisted(client: HostClient, allowed: readonly string[]): Promise<string[]> {
  const known = [...need(await client.tool.ids(), 'tool.ids'), ...EDITING]
  const edits = EDITING.some((name) => allowed.includes(name))
  const servers = Object.keys(need(await client.mcp.status(), 'mcp.status')).map((name) => name.replace(/[^\w-]/g, '_'))
  return [
    ...known.filter((name) => (EDITING.includes(name) ? !edits : !allowed.includes(name))),
    // A server's tools are not listed anywhere: their names begin with the server's. So they come together.
    ...servers.filter((name) => !allowed.some((tool) => tool.startsWith(`${name}_`))).map((name) => `${name}_*`),
  ]
}
