/** The end of a command's help: how it is used. Each is a command line after `postflight`. */
export function example(...commands: readonly string[]): string {
  return `\nExample${commands.length === 1 ? '' : 's'}:\n${commands.map((command) => `  $ postflight ${command}`).join('\n')}`
}
