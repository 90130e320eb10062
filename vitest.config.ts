import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { HOOK_HOSTS } from './src/hosts/hook-hosts.ts'

const common = {
  setupFiles: ['test/support/command-sentences.ts', 'test/support/seed.ts'],
  // Node 20 reads this file at every start, which takes 30 ms. No test of these projects uses the network.
  env: { NODE_EXTRA_CA_CERTS: '' },
  // A worker keeps its modules for the next file, so a test must undo what it changes.
  isolate: false,
}

/** Replaces the modules that load a built file. */
const alias = [
  {
    find: /^.*\/load-parts\.ts$/,
    replacement: fileURLToPath(new URL('test/support/loaders.ts', import.meta.url)),
  },
]

const patient = { testTimeout: 60_000, hookTimeout: 60_000 }

/** Clients that are too large to be fetched for every run of the host tests: `npm run test:hosts -- codex` runs one. */
const ON_REQUEST = Object.keys(HOOK_HOSTS)
const notRequested = ON_REQUEST.filter((client) => !process.argv.some((word) => word.includes(client)))

/** The files that the linter keeps pure. */
const { overrides } = JSON.parse(readFileSync(new URL('biome.json', import.meta.url), 'utf8'))
const PURE_FILES: string[] = overrides.flatMap((one: { includes: string[]; linter: { rules: { style?: object } } }) =>
  one.linter.rules.style !== undefined && 'noRestrictedGlobals' in one.linter.rules.style ? one.includes : [],
)

/** What each project is for is told in test/README.md. */
export default defineConfig({
  test: {
    // Tests that wait for a process leave their processor idle.
    maxWorkers: availableParallelism() + 1,
    reporters: ['./test/support/quiet-reporter.ts'],
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], ...common, ...patient } },
      {
        resolve: { alias },
        test: {
          name: 'property',
          include: ['test/property/**/*.test.ts'],
          ...common,
          ...patient,
          setupFiles: [...common.setupFiles, 'test/support/clean-up.ts'],
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          ...common,
          ...patient,
          setupFiles: [...common.setupFiles, 'test/support/clean-up.ts'],
        },
      },
      {
        test: {
          name: 'docs',
          include: ['test/docs/**/*.test.ts'],
          ...common,
          ...patient,
          setupFiles: [...common.setupFiles, 'test/support/clean-up.ts'],
          maxConcurrency: 3,
        },
      },
      // These take minutes: contention, faults at every call, fuzzing.
      {
        test: {
          name: 'stress',
          include: ['test/stress/**/*.test.ts'],
          setupFiles: [...common.setupFiles, 'test/support/clean-up.ts', 'test/support/stress-fifth.ts'],
          testTimeout: 900_000,
          hookTimeout: 300_000,
        },
      },
      // These run the published clients, which are fetched on first use. One run of a client takes about a second.
      {
        test: {
          name: 'hosts',
          globalSetup: ['test/hosts/global-setup.ts'],
          setupFiles: ['test/hosts/end-machine.ts'],
          isolate: false,
          include: ['test/hosts/**/*.test.ts'],
          exclude: notRequested.map((client) => `test/hosts/${client}/**`),
          testTimeout: 120_000,
          hookTimeout: 300_000,
        },
      },
      // Twenty conversations at once for minutes, on the published OpenCode; not in CI, whose machine is never at rest.
      {
        test: {
          name: 'load',
          globalSetup: ['test/hosts/global-setup.ts'],
          setupFiles: ['test/hosts/end-machine.ts'],
          include: ['test/load/**/*.test.ts'],
          testTimeout: 1_200_000,
          hookTimeout: 300_000,
        },
      },
    ],
    coverage: {
      provider: 'v8',
      include: PURE_FILES.filter((file) => !file.startsWith('!')),
      exclude: PURE_FILES.filter((file) => file.startsWith('!')).map((file) => file.slice(1)),
      reporter: ['text-summary'],
      thresholds: { lines: 98, branches: 98, functions: 98, statements: 98 },
    },
  },
})
