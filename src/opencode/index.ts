import { server } from './server.ts'

/**
 * postflight-guard as a plugin of OpenCode. The default export is the only one: beside a default plugin, OpenCode
 * 1.18.34 treats every other export that is not a function as a broken plugin.
 */
export default { id: 'postflight-guard', server }
