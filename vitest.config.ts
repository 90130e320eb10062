import { defineConfig } from 'vitest/config'

/** Unit and property tests read the sources; integration tests start the built files as processes. */
export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], setupFiles: ['test/support/seed.ts'] } },
      {
        test: {
          name: 'property',
          include: ['test/property/**/*.test.ts'],
          setupFiles: ['test/support/seed.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          setupFiles: ['test/support/seed.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      // These take minutes: contention, faults at every call, fuzzing. The other projects run smaller versions of them.
      { test: { name: 'stress', include: ['test/stress/**/*.test.ts'], testTimeout: 900_000, hookTimeout: 300_000 } },
      // These run the published clients, which are fetched on first use. One run of a client takes about a second.
      {
        test: {
          name: 'hosts',
          globalSetup: ['test/hosts/global-setup.ts'],
          include: ['test/hosts/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 300_000,
        },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/core/**'],
      reporter: ['text-summary'],
      thresholds: { lines: 95, branches: 95, functions: 95, statements: 95 },
    },
  },
})
