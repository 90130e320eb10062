import { describeHookCases } from '../hook-cases.ts'
import { HOOK_CLIENTS } from '../hook-clients.ts'

// A sub-agent of a sub-agent exists only where the user raises `agents.max_depth`.
describeHookCases(HOOK_CLIENTS.codex, { nests: false })
