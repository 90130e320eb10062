/** `node:crypto` takes about 3 ms to load. */
export function sha256(data: string | Uint8Array): string {
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(data).digest('hex')
}
