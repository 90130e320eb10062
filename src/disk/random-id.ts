/** Makes ids. They must differ but need not be secret: `node:crypto` takes about 3 ms to load. */

const ID_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** A new id: `pf_` and 12 random characters, lower case, because ids become names in file systems that ignore case. */
export function newMarkerId(): string {
  return `pf_${randomCharacters(12)}`
}

/** A new id of a workflow's run: `wf_` and 12 random characters. */
export function newRunId(): string {
  return `wf_${randomCharacters(12)}`
}

/** Random lower-case letters and digits. */
export function randomCharacters(count: number): string {
  return Array.from({ length: count }, () => ID_ALPHABET[Math.floor(Math.random() * ID_ALPHABET.length)]).join('')
}
