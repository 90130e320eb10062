/** Prints failures, figures and what was skipped with the reason, and nothing else of a green run. */

import { relative } from 'node:path'
import { DefaultReporter, type TestCase, type TestModule, type TestSuite } from 'vitest/node'

export default class QuietReporter extends DefaultReporter {
  override printTestModule(testModule: TestModule): void {
    if (testModule.state() === 'failed') super.printTestModule(testModule)
  }

  override onTestRunEnd(...[modules, errors, reason]: Parameters<DefaultReporter['onTestRunEnd']>): void {
    super.onTestRunEnd(modules, errors, reason)
    // A filter by title (`-t`) skips every other test, which needs no list.
    if (this.ctx.config.testNamePattern !== undefined) return
    const skipped = new Map<string, number>()
    for (const testModule of modules) {
      for (const test of testModule.children.allTests('skipped')) {
        const line = `${relative(this.ctx.config.root, testModule.moduleId)}: ${whySkipped(test)}`
        skipped.set(line, (skipped.get(line) ?? 0) + 1)
      }
    }
    if (skipped.size === 0) return
    this.log('Skipped:')
    for (const [line, count] of skipped) this.log(`  ${count} in ${line}`)
    this.log('')
  }
}

/** The note of a skipped test, or the outermost title that gives a reason, or else its whole title. */
function whySkipped(test: TestCase): string {
  const result = test.result()
  if (result.state === 'skipped' && result.note !== undefined) return result.note
  const titles: string[] = [test.name]
  for (let { parent } = test as { parent: TestSuite | TestModule }; parent.type === 'suite'; parent = parent.parent) {
    titles.unshift(parent.name)
  }
  return titles.find((title) => title.includes('(skipped: ')) ?? titles.join(' > ')
}
