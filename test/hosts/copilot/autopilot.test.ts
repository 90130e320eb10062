import { describeEndingTool } from '../ending-tool-cases.ts'
import { HOOK_CLIENTS } from '../hook-clients.ts'

describeEndingTool(HOOK_CLIENTS.copilot, { name: 'task_complete', input: { summary: 'done' }, args: ['--autopilot'] })
