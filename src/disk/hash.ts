/** The SHA-256 of a text or of bytes, in hexadecimal. `node:crypto` takes about 3 ms to load, so it is loaded on demand. */
export function sha256(data: string | Uint8Array): string {
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(data).digest('hex')
}
