/** What lies in a folder, for those who compare. */

import fs from 'node:fs'
import path from 'node:path'

export function textAt(file: string): string | undefined {
  // Mostly it is not there, and an error takes longer than this.
  if (!fs.existsSync(file)) return undefined
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

export function jsonOf(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}

export function isJsonObject(text: string): boolean {
  const value = jsonOf(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '')

/** The files and folders below a folder, with their texts by relative path; the paths of folders end in `/`. */
export function filesBelow(folder: string): Record<string, string> {
  const found: Record<string, string> = {}
  const look = (relative: string): void => {
    for (const entry of fs.readdirSync(path.join(folder, relative), { withFileTypes: true })) {
      const name = `${relative}${entry.name}`
      if (entry.isDirectory()) {
        found[`${name}/`] = ''
        look(`${name}/`)
      } else if (entry.isFile()) found[name] = fs.readFileSync(path.join(folder, name), 'utf8')
      else found[name] = 'neither a file nor a folder'
    }
  }
  look('')
  return found
}
