import type { Output } from '../../views/print.ts'
import type { GlobalOptions, Invocation } from '../invocation.ts'
import { bareProgram, type Program, type Run } from './bare-program.ts'
import { addHookCommands } from './hook.ts'
import { addMarkerCommands } from './markers.ts'
import { addSettingsCommands } from './settings.ts'
import { addViewCommands } from './views.ts'
import { addWorkflowCommands } from './workflows.ts'

/** Declares the commands, and turns a command line into an invocation. */

/** The dependencies of the program. */
export interface ProgramPorts {
  readonly version: string
  readonly stdout: Output
  /** Runs the invocation of a command line. */
  readonly run: (invocation: Invocation, options: GlobalOptions) => Promise<void>
}

/** The program, ready to parse. It never ends the process. */
export function buildProgram(ports: ProgramPorts): Program {
  const program = bareProgram(ports.version, ports.stdout)
  const run: Run = (invocation, rootOnLine) => {
    const { root = rootOnLine, json = false, quiet = false } = program.opts()
    return ports.run(invocation, { root, json, quiet })
  }
  addMarkerCommands(program, run)
  addHookCommands(program, run)
  addViewCommands(program, run)
  addSettingsCommands(program, run)
  addWorkflowCommands(program, run)
  return program
}
