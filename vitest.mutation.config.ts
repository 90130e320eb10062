import { defineConfig } from 'vitest/config'

/** The tests that mutants of src/core run against: only those that start no processes. */
export default defineConfig({
  test: {
    include: ['test/unit/**/*.test.ts', 'test/property/**/*.test.ts'],
    setupFiles: ['test/support/seed.ts', 'test/support/short-properties.ts'],
    // Stryker runs each mutant in a new thread anyway, so its test files can share their modules.
    isolate: false,
  },
})
