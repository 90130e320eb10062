import type { ChildProcess } from 'node:child_process'

export interface ChildOutput {
  stdout: string
  stderr: string
}

/** Collects what a process writes. The result grows until the process has closed. */
export function outputOf({ stdout, stderr }: Pick<ChildProcess, 'stdout' | 'stderr'>): ChildOutput {
  const output = { stdout: '', stderr: '' }
  stdout?.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
  })
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  return output
}
