// Runs the stress suite:
//
//   npm run test:stress            a fifth of its tests, and a part of every long list, drawn by the seed: CI takes it from
//                                  the commit
//   npm run test:stress -- --all   all of them
//   npm run test:stress -- fuzz    the files of that name, whole
//
// FUZZ_SEED=N repeats a run, POSTFLIGHT_TEST_SEED=N one order or history that a failure names.
import { spawnSync } from 'node:child_process'

const words = process.argv.slice(2)
const isWhole = words.length > 0
const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2_147_483_647)
console.log(`stress: ${isWhole ? 'every test' : 'a fifth of the tests'}, FUZZ_SEED=${seed}`)
const { status } = spawnSync(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    ...['run', '--project', 'stress', '--maxWorkers=2'],
    ...words.filter((word) => word !== '--all'),
  ],
  {
    stdio: 'inherit',
    env: {
      POSTFLIGHT_TEST_SEED: String(seed),
      ...process.env,
      FUZZ_SEED: String(seed),
      ...(!isWhole && { POSTFLIGHT_STRESS_FIFTH: String(seed % 5) }),
    },
  },
)
process.exitCode = status ?? 1
