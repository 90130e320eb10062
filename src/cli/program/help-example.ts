/** The examples at the end of a command's help text. Each one is a command line without the word `postflight`. */
export function example(...commands: readonly string[]): string {
  return `\nExample${commands.length === 1 ? '' : 's'}:\n${commands.map((command) => `  $ postflight ${command}`).join('\n')}`
}
