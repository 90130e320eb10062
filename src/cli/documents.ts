import type * as z from 'zod/mini'
import { ADOPT_DOCUMENT } from '../views/documents/adopt.ts'
import { BYPASS_DOCUMENT } from '../views/documents/bypass.ts'
import { CLEAR_DOCUMENT } from '../views/documents/clear.ts'
import { COMPLETE_DOCUMENT, COMPLETION_DOCUMENT } from '../views/documents/completion.ts'
import { CREATE_DOCUMENT } from '../views/documents/create.ts'
import { DOCTOR_DOCUMENT } from '../views/documents/doctor.ts'
import type { DocumentOf } from '../views/documents/document.ts'
import { EXPLAIN_DOCUMENT } from '../views/documents/explain.ts'
import { INIT_DOCUMENT } from '../views/documents/init.ts'
import { INSPECT_DOCUMENT } from '../views/documents/inspect.ts'
import { INSTALL_DOCUMENT, UNINSTALL_DOCUMENT } from '../views/documents/install.ts'
import { LOGS_DOCUMENT } from '../views/documents/logs.ts'
import { REPORT_DOCUMENT } from '../views/documents/report.ts'
import { PROJECT_STATUS_DOCUMENT } from '../views/documents/status.ts'
import { STATUS_LINE_DOCUMENT } from '../views/documents/statusline.ts'
import { STEP_DOCUMENT } from '../views/documents/step.ts'
import { WAIT_DOCUMENT } from '../views/documents/wait.ts'
import { PHASE_CHECK_DOCUMENT } from '../views/documents/workflow/check.ts'
import { GRAPH_DOCUMENT } from '../views/documents/workflow/graph.ts'
import { HISTORY_DOCUMENT } from '../views/documents/workflow/history.ts'
import { NEXT_DOCUMENT } from '../views/documents/workflow/next.ts'
import { RESUME_DOCUMENT } from '../views/documents/workflow/resume.ts'
import { RUN_DOCUMENT } from '../views/documents/workflow/run.ts'
import { SIMULATE_DOCUMENT } from '../views/documents/workflow/simulate.ts'
import { STATUS_DOCUMENT } from '../views/documents/workflow/status.ts'
import { VALIDATE_DOCUMENT } from '../views/documents/workflow/validate.ts'
import type { CommandName } from './invocation.ts'

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
  'workflow approve': RUN_DOCUMENT,
  'workflow reject': RUN_DOCUMENT,
  'workflow retry': RUN_DOCUMENT,
  'workflow skip': RUN_DOCUMENT,
  'workflow check': PHASE_CHECK_DOCUMENT,
  'workflow resume': RESUME_DOCUMENT,
  'workflow abort': RUN_DOCUMENT,
  'workflow history': HISTORY_DOCUMENT,
  'workflow graph': GRAPH_DOCUMENT,
  'workflow simulate': SIMULATE_DOCUMENT,
} as const satisfies Record<CommandName, z.core.$ZodType>

/** The data of each command, by the command's name. */
export type Documents = { readonly [Name in CommandName]: DocumentOf<(typeof DOCUMENTS)[Name]> }
