import { server } from './server.ts'

/**
 * postflight-guard as a plugin of OpenCode. The default export is all there is: OpenCode 1.18.33 takes any other export
 * that is no function for a broken plugin where the default is one.
 */
export default { id: 'postflight-guard', server }
