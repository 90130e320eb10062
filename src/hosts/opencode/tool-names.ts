/** The names by which OpenCode knows our tool and our command. */

/** The tool that runs a workflow. */
export const WORKFLOW_TOOL = 'workflow_run'

/** The command that does the same for people, without the slash. */
export const WORKFLOW_COMMAND = 'postflight-workflow'
