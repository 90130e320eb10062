import { type HostDifference, variable } from './host.ts'

/** Factory droid (measured with 0.225.2). */
export const droid: HostDifference = {
  projectVariables: ['FACTORY_PROJECT_DIR'],
  recognizes: (_payload, environment) => variable(environment, 'FACTORY_PROJECT_DIR') !== undefined,
  startsSubagent: (payload, environment) =>
    payload.caller !== undefined && variable(environment, 'FACTORY_PROJECT_DIR') !== undefined,
  // A sub-agent has its own session and stops with `Stop`. The SubagentStop that follows is only a notification.
  exempts: (payload, environment) =>
    payload.event === 'SubagentStop' && variable(environment, 'FACTORY_PROJECT_DIR') !== undefined
      ? { host: 'droid', why: 'answer-ignored' }
      : undefined,
}
