import type { ReactiveRule } from './reactive-rule.ts'

/** Decides which rules apply to a tool call. Apart from the reading of rules, which loads zod. */

/** `args` may be anything: OpenCode checks them later. */
export function rulesFor(rules: readonly ReactiveRule[], tool: string, args: unknown): ReactiveRule[] {
  const of = rules.filter((rule) => rule.tool === tool)
  if (of.length === 0) return []
  const command = (args as { readonly command?: unknown } | null | undefined)?.command
  const parts = typeof command === 'string' ? [command.trim(), ...commandParts(command)] : []
  return of.filter(({ command: glob }) => glob === undefined || parts.some((part) => matchesGlob(part, glob)))
}

/** An operator inside quotes or behind a backslash belongs to its part. */
export function commandParts(command: string): string[] {
  const parts: string[] = []
  let part = ''
  for (const [piece] of command.matchAll(/'[^']*'?|"(?:[^"\\]|\\[\s\S])*"?|\\[\s\S]?|&&|\|\|?|;|\n|[^'"\\&|;\n]+|&/g)) {
    if (OPERATORS.includes(piece)) {
      parts.push(part)
      part = ''
    } else part += piece
  }
  return [...parts, part].map((one) => one.trim()).filter((one) => one !== '')
}

const OPERATORS = ['&&', '||', '|', ';', '\n']

/**
 * The number of steps is at most the product of both lengths, so a hostile command cannot block the server, as a
 * regular expression with many stars could.
 */
export function matchesGlob(text: string, glob: string): boolean {
  let at = 0
  let pattern = 0
  let star = -1
  let starEnd = 0
  while (at < text.length) {
    if (glob[pattern] === '*') {
      star = pattern
      starEnd = at
      pattern += 1
    } else if (glob[pattern] === '?' || glob[pattern] === text[at]) {
      pattern += 1
      at += 1
    } else if (star === -1) return false
    else {
      starEnd += 1
      at = starEnd
      pattern = star + 1
    }
  }
  return /^\**$/.test(glob.slice(pattern))
}
