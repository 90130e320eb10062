import { describeHookCases } from '../hook-cases.ts'
import { HOOK_CLIENTS } from '../hook-clients.ts'

describeHookCases(HOOK_CLIENTS.codex, { nests: true })
