import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Unit tests first: a mutant's run ends with the first failure, and they are faster than properties. */
class UnitFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isProperty = ({ moduleId }: TestSpecification): number => Number(moduleId.includes('/property/'))
    return [...files].sort((one, other) => isProperty(one) - isProperty(other))
  }
}

/** The tests that mutants run against: only those that start no processes. */
export default defineConfig({
  test: {
    include: ['test/unit/**/*.test.ts', 'test/property/**/*.test.ts'],
    // What a setup file loads before Stryker's own is not mutated.
    setupFiles: ['test/support/short-properties.ts'],
    // An instrumented property takes longer, and Stryker has a limit of its own for a mutant.
    testTimeout: 60_000,
    sequence: { sequencer: UnitFirst },
    // Stryker runs each mutant in a new thread anyway, so its test files can share their modules.
    isolate: false,
  },
})
