/** Collects the values of an option that can be repeated. */
export function collect(value: string, previous: readonly string[]): string[] {
  return [...previous, value]
}
