/** Prints failures, figures and what was skipped with the reason, and nothing else of a green run. */

import { relative } from 'node:path'
import { DefaultReporter, type TestCase, type TestModule, type TestSuite } from 'vitest/node'
import { groupedLines } from './grouped-lines.ts'

export default class QuietReporter extends DefaultReporter {
  override printTestModule(testModule: TestModule): void {
    if (testModule.state() === 'failed') super.printTestModule(testModule)
  }

  override onTestRunEnd(...[modules, errors, reason]: Parameters<DefaultReporter['onTestRunEnd']>): void {
    super.onTestRunEnd(modules, errors, reason)
    // A filter by title (`-t`) skips every other test, which needs no list.
    if (this.ctx.config.testNamePattern !== undefined) return
    const skipped = modules.flatMap((testModule) => {
      const place = relative(this.ctx.config.root, testModule.moduleId)
      return [...testModule.children.allTests('skipped')].map((test) => ({ place, why: whySkipped(test) }))
    })
    if (skipped.length === 0) return
    this.log('Skipped:')
    for (const line of groupedLines(skipped)) this.log(line)
    this.log('')
  }
}

/** The note of a skipped test, or the reason in its outermost title that has one, or else its whole title. */
function whySkipped(test: TestCase): string {
  const result = test.result()
  if (result.state === 'skipped' && result.note !== undefined) return result.note
  const titles: string[] = [test.name]
  for (let { parent } = test as { parent: TestSuite | TestModule }; parent.type === 'suite'; parent = parent.parent) {
    titles.unshift(parent.name)
  }
  const reasons = titles.flatMap((title) => /\(skipped: (.*)\)/.exec(title)?.[1] ?? [])
  return reasons[0] ?? titles.join(' > ')
}
