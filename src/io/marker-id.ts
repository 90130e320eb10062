/** Ids must differ, not be secret: the platform's cryptography would cost some 3 ms to load. */

const ID_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** `pf_` and 12 random characters, lower case: ids become file names, also where case does not count. */
export function newMarkerId(): string {
  return `pf_${randomCharacters(12)}`
}

/** Letters and digits. */
export function randomCharacters(count: number): string {
  return Array.from({ length: count }, () => ID_ALPHABET[Math.floor(Math.random() * ID_ALPHABET.length)]).join('')
}
