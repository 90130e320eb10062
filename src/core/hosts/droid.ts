import { type HostDifference, variable } from './host.ts'

/** Factory droid (measured with 0.225.2). */
export const droid: HostDifference = {
  projectVariables: ['FACTORY_PROJECT_DIR'],
  recognizes: (_payload, environment) => variable(environment, 'FACTORY_PROJECT_DIR') !== undefined,
  // A sub-agent is a session of its own and stops with `Stop`; the SubagentStop that follows is only told.
  exempts: (payload, environment) =>
    payload.event === 'SubagentStop' && variable(environment, 'FACTORY_PROJECT_DIR') !== undefined
      ? { host: 'droid', why: 'answer-ignored' }
      : undefined,
}
