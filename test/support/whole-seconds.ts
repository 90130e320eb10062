import fs from 'node:fs'
import { vi } from 'vitest'

/** Gives files the times of a file system without fractions of a second. */
export function wholeSeconds() {
  const { lstatSync } = fs
  return vi.spyOn(fs, 'lstatSync').mockImplementation(((file: string, options?: fs.StatSyncOptions) => {
    const stats = lstatSync(file, options) as fs.Stats | undefined
    if (!options?.bigint && stats) for (const key of ['mtimeMs', 'ctimeMs'] as const) stats[key] -= stats[key] % 1000
    return stats
  }) as typeof lstatSync)
}
