import fs from 'node:fs'
import path from 'node:path'

/** A change by a shell. `replace`: as `mv`; `remove`: as `rm -f`. */
export type ShellCall =
  | { readonly call: 'replace'; readonly file: string; readonly text: string }
  | { readonly call: 'remove'; readonly file: string }

export function changeByShell(folder: string, change: ShellCall): void {
  const file = path.join(folder, change.file)
  if (change.call === 'remove') fs.rmSync(file, { force: true })
  else {
    fs.writeFileSync(`${file}.new`, change.text)
    fs.renameSync(`${file}.new`, file)
  }
}
