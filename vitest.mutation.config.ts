import { defineConfig } from 'vitest/config'

/** What mutants of src/core are tried against: only the tests that run in the process. */
export default defineConfig({
  test: {
    include: ['test/unit/**/*.test.ts', 'test/property/**/*.test.ts'],
    exclude: ['test/property/launcher.test.ts'],
  },
})
