/** The failures of delegations, as OpenCode 1.18.34 and common plugins word them. */

/** A failure, with the parts of the error that its fix names. */
export interface DelegationFailure {
  readonly kind:
    | 'missing-argument'
    | 'wrong-argument'
    | 'unknown-agent'
    | 'primary-agent'
    | 'unknown-category'
    | 'unknown-skill'
    | 'unknown-task'
    | 'both-given'
    | 'background'
    | 'depth'
    | 'refused'
    | 'model'
  /** The argument, or the name that is not known. */
  readonly name: string
  /** The names that the error itself offers. */
  readonly offered: string | undefined
}

/** The first group is the name. */
const PATTERNS: readonly (readonly [DelegationFailure['kind'], RegExp])[] = [
  ['missing-argument', /missing key\s+at \["(\w+)"\]/i],
  ['wrong-argument', /expected .{1,80}, got .{0,200}?\s+at \["(\w+)"\]/is],
  [
    'primary-agent',
    /(?:cannot|can't|not allowed to) (?:call|use|delegate to) (?:the )?primary agent:? ?["'`]?([\w-]+)?/i,
  ],
  ['unknown-agent', /(?:unknown|invalid|no such) (?:sub-?)?agent(?: type)?:? ?["'`]?([\w.@/-]+)?/i],
  ['unknown-agent', /agent ["'`]?([\w.@/-]+)["'`]? (?:was |is )?(?:not found|not a valid)/i],
  ['unknown-category', /(?:unknown|invalid|no such) category:? ?["'`]?([\w.-]+)?/i],
  [
    'unknown-skill',
    /skills?:? ?["'`]?([\w.:-]+)?["'`]? (?:was |were )?not found(?:: ?([\w.:-]+))?|(?:unknown|invalid) skills?:? ?["'`]?([\w.:-]+)?/i,
  ],
  ['unknown-task', /(?:session|task(?:_id)?) ["'`]?([\w-]+)["'`]? (?:was )?not found/i],
  ['both-given', /(category and subagent_type|subagent_type and category|mutually exclusive)/i],
  ['background', /(background) subagents require/i],
  ['depth', /(subagent depth) limit reached/i],
  ['refused', /(rejected permission|rule which prevents you from using)/i],
  ['model', /model not found:? ?["'`]?([\w./:-]*\w)?|ProviderModelNotFoundError/i],
  [
    'missing-argument',
    /(?:missing|required)(?: required)?(?: argument| parameter| field)?s?:? ?["'`]?(run_in_background|load_skills|subagent_type|category|prompt|description)/i,
  ],
  [
    'missing-argument',
    /["'`]?(run_in_background|load_skills|subagent_type|category|prompt|description)["'`]? (?:parameter |argument |field )?(?:is |was )?(?:missing|required|not (?:given|provided))/i,
  ],
  ['wrong-argument', /invalid (?:arguments?|parameters?|input)(?:.{0,80}["'`](\w+)["'`])?/is],
]

/** The words in errors before the names that may be used instead. */
const OFFERED = /(?:available|valid|known|allowed)[^:\n]{0,40}:\s*([^\n]{1,500})/i

/** Only so many characters of an error are examined, because the report of a sub-agent may be long. */
const LOOKED_AT = 2_000

/** The failure that an error reports; undefined for one that a better call would not avoid. */
export function delegationFailureIn(text: string): DelegationFailure | undefined {
  const error = text.slice(0, LOOKED_AT)
  for (const [kind, pattern] of PATTERNS) {
    const found = pattern.exec(error)
    if (found === null) continue
    return { kind, name: found.slice(1).find((one) => one !== undefined) ?? '', offered: OFFERED.exec(error)?.[1] }
  }
  return undefined
}
