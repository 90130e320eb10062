import type * as z from 'zod/mini'
import type { CommandName } from '../invocation.ts'
import { ADOPT_DOCUMENT } from './adopt.ts'
import { BYPASS_DOCUMENT } from './bypass.ts'
import { CLEAR_DOCUMENT } from './clear.ts'
import { COMPLETE_DOCUMENT, COMPLETION_DOCUMENT } from './completion.ts'
import { CREATE_DOCUMENT } from './create.ts'
import { DOCTOR_DOCUMENT } from './doctor.ts'
import type { DocumentOf } from './document.ts'
import { EXPLAIN_DOCUMENT } from './explain.ts'
import { INIT_DOCUMENT } from './init.ts'
import { INSPECT_DOCUMENT } from './inspect.ts'
import { INSTALL_DOCUMENT, UNINSTALL_DOCUMENT } from './install.ts'
import { LOGS_DOCUMENT } from './logs.ts'
import { REPORT_DOCUMENT } from './report.ts'
import { PROJECT_STATUS_DOCUMENT } from './status.ts'
import { STATUS_LINE_DOCUMENT } from './statusline.ts'
import { STEP_DOCUMENT } from './step.ts'
import { WAIT_DOCUMENT } from './wait.ts'
import { PHASE_CHECK_DOCUMENT } from './workflow/check.ts'
import { GRAPH_DOCUMENT } from './workflow/graph.ts'
import { HISTORY_DOCUMENT } from './workflow/history.ts'
import { NEXT_DOCUMENT } from './workflow/next.ts'
import { RESUME_DOCUMENT } from './workflow/resume.ts'
import { RUN_DOCUMENT } from './workflow/run.ts'
import { STATUS_DOCUMENT } from './workflow/status.ts'
import { VALIDATE_DOCUMENT } from './workflow/validate.ts'

/** The document schema of each command, by the command's name. */
export const DOCUMENTS = {
  create: CREATE_DOCUMENT,
  clear: CLEAR_DOCUMENT,
  status: PROJECT_STATUS_DOCUMENT,
  statusline: STATUS_LINE_DOCUMENT,
  report: REPORT_DOCUMENT,
  completion: COMPLETION_DOCUMENT,
  complete: COMPLETE_DOCUMENT,
  inspect: INSPECT_DOCUMENT,
  step: STEP_DOCUMENT,
  wait: WAIT_DOCUMENT,
  bypass: BYPASS_DOCUMENT,
  adopt: ADOPT_DOCUMENT,
  explain: EXPLAIN_DOCUMENT,
  logs: LOGS_DOCUMENT,
  init: INIT_DOCUMENT,
  install: INSTALL_DOCUMENT,
  uninstall: UNINSTALL_DOCUMENT,
  doctor: DOCTOR_DOCUMENT,
  'workflow validate': VALIDATE_DOCUMENT,
  'workflow start': RUN_DOCUMENT,
  'workflow status': STATUS_DOCUMENT,
  'workflow next': NEXT_DOCUMENT,
  'workflow stop': RUN_DOCUMENT,
  'workflow check': PHASE_CHECK_DOCUMENT,
  'workflow resume': RESUME_DOCUMENT,
  'workflow abort': RUN_DOCUMENT,
  'workflow history': HISTORY_DOCUMENT,
  'workflow graph': GRAPH_DOCUMENT,
} as const satisfies Record<CommandName, z.core.$ZodType>

/** The data of each command, by the command's name. */
export type Documents = { readonly [Name in CommandName]: DocumentOf<(typeof DOCUMENTS)[Name]> }
