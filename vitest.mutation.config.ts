import { defineConfig } from 'vitest/config'

/** What mutants of src/core are tried against: only the tests that run in the process, as fast as they can be run. */
export default defineConfig({
  test: {
    include: ['test/unit/**/*.test.ts', 'test/property/**/*.test.ts'],
    exclude: ['test/property/launcher.test.ts'],
    setupFiles: ['test/support/seed.ts', 'test/support/short-properties.ts'],
    // Each mutant is tried in a fresh thread anyway; between its tests nothing has to be loaded again.
    isolate: false,
  },
})
