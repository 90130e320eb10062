import type { StatusItem } from './status-item.ts'

/** Annotations as GitHub Actions reads them from the output of a step. */

/** The annotation of an item. */
export function annotation({ kind, path, sentence }: StatusItem): string {
  return `::error title=${property(`postflight ${kind}`)},file=${property(path)}::${escaped(sentence)}`
}

function escaped(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(text: string): string {
  return escaped(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
