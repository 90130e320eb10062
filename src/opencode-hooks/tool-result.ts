import type { ToolOutput } from '../hosts/opencode/plugin-api.ts'

/** The results of tool calls. OpenCode's own tools and those of plugins have a text, those of MCP servers a list. */

/** The text of a result; undefined for one without text. */
export function resultText({ output, content }: ToolOutput): string | undefined {
  if (typeof output === 'string') return output
  if (!Array.isArray(content)) return undefined
  const texts = content.flatMap(({ type, text }) => (type === 'text' && text !== undefined ? text : []))
  return texts.length === 0 ? undefined : texts.join('\n')
}

/** Adds a paragraph to a result. False where the result has no place for it. */
export function addToResult(result: ToolOutput, text: string): boolean {
  if (typeof result.output === 'string') result.output += `\n\n${text}`
  else if (Array.isArray(result.content)) result.content.push({ type: 'text', text })
  else return false
  return true
}
