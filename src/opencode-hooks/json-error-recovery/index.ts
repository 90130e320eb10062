import { WORKFLOW_TOOL } from '../../hosts/opencode/tool-names.ts'
import { factory } from '../factory.ts'
import { HOOK_TEXT } from '../hook-texts.ts'
import { addToResult, resultText } from '../tool-result.ts'
import type { JsonErrorRecoveryOptions } from './options.ts'
import { jsonFaultIn } from './patterns.ts'

/** Tools whose output may hold any error text, because it comes from files, commands or agents. */
const NEVER_LOOKED_AT: readonly string[] = [
  ...['bash', 'read', 'glob', 'grep', 'list', 'webfetch', 'websearch', 'codesearch', 'lsp', 'edit', 'write', 'patch'],
  ...['apply_patch', 'multiedit', 'task', 'skill', 'todowrite', 'todoread', 'question', WORKFLOW_TOOL],
]

/** The tool that OpenCode calls instead of one whose call cannot be read (1.18.34). */
const UNREADABLE_CALL = 'invalid'

/**
 * The hooks that tell an agent how to repeat a tool call whose arguments were not JSON. OpenCode answers such a call with
 * its tool `invalid`; tools of MCP servers and of other plugins may answer with the same errors.
 */
export const createJsonErrorRecoveryHook = factory(
  'JSON error recovery',
  (_ports, { except = [] }: JsonErrorRecoveryOptions | undefined = {}) => {
    const skipped = new Set([...NEVER_LOOKED_AT, ...except])
    return {
      async 'tool.execute.after'({ tool, args }, output) {
        const said = skipped.has(tool) ? undefined : resultText(output)
        const fault = said === undefined ? undefined : jsonFaultIn(said)
        if (fault === undefined) return
        const wanted = tool === UNREADABLE_CALL ? String(args?.tool ?? tool) : undefined
        addToResult(output, HOOK_TEXT.brokenJson(fault, wanted))
      },
    }
  },
)
