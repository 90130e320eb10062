/** Rewrites the built plugin so that it tells `globalThis.loadMeter` when its code begins to run, and when it stops. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const METER = 'globalThis.loadMeter'

/** A text to insert. If two are at one place, the one that ends something comes first. */
interface Insertion {
  at: number
  text: string
  ends: boolean
}

/** Rewrites every module of a folder. */
export function instrumentFolder(folder: string): void {
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.mjs'))) {
    const file = join(folder, name)
    writeFileSync(file, instrument(readFileSync(file, 'utf8')))
  }
}

/**
 * The same module, with `entered` at the beginning of each asynchronous function, `ended` at its end, `left` at each `await`
 * and `resumed` after it. Synchronous code runs within one of these.
 */
function instrument(text: string): string {
  const source = ts.createSourceFile('plugin.mjs', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS)
  const insertions: Insertion[] = []
  /** Inserts a text before and one after what lies between two places, outside of everything within. */
  const surround = (from: number, to: number, before: string, after: string, inner: () => void): void => {
    insertions.push({ at: from, text: before, ends: false })
    inner()
    insertions.push({ at: to, text: after, ends: true })
  }
  const visit = (node: ts.Node): void => {
    const inner = (): void => node.forEachChild(visit)
    const name = JSON.stringify(node.getText(source).replace(/\s+/g, ' ').slice(0, 60))
    const [entered, ended] = [`${METER}.entered(${name}); try {`, `} finally { ${METER}.ended() }`]
    if (ts.isAwaitExpression(node)) {
      const { expression } = node
      surround(node.getStart(source), node.end, `${METER}.resumed(`, `, ${name})`, () =>
        surround(expression.getStart(source), expression.end, `${METER}.left(`, ')', () => visit(expression)),
      )
    } else if (!isAsync(node)) inner()
    else if (ts.isBlock(node.body)) surround(node.body.getStart(source) + 1, node.body.end - 1, entered, ended, inner)
    else surround(node.body.getStart(source), node.body.end, `{ ${entered} return `, `${ended} }`, inner)
  }
  visit(source)
  insertions.sort((one, other) => one.at - other.at || Number(other.ends) - Number(one.ends))
  let result = ''
  let done = 0
  for (const { at, text: inserted } of insertions) {
    result += text.slice(done, at) + inserted
    done = at
  }
  return result + text.slice(done)
}

function isAsync(node: ts.Node): node is ts.FunctionLikeDeclaration & { body: ts.Block | ts.Expression } {
  if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return false
  return (
    ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword) === true
  )
}
