import { beforeEach, type RunnerTask } from 'vitest'

/** `POSTFLIGHT_STRESS_FIFTH`, from 0 to 4: only that fifth of the stress tests runs (scripts/stress.js). */
const fifth = process.env.POSTFLIGHT_STRESS_FIFTH

/** Files of a few tests with thousands of cases each: these tests are in every fifth, with a part of their cases. */
const LISTS = /\/(?:agreement|contention|faults|faults-strace|fuzz|model|power-cuts)\.test\.ts$/

/** Coprime to the periods of the lists, so that each part has cases of every kind. */
const STRIDE = 11

/** The cases of a list for this run: all, or every eleventh in a run of a fifth. The seed draws the first. */
export function* partOf<Case>(cases: Iterable<Case>, stride = STRIDE): Generator<Case> {
  let index = Number(process.env.FUZZ_SEED ?? 0)
  for (const one of cases) if (fifth === undefined || index++ % stride === 0) yield one
}

/** As many cases as `partOf` takes of `count`. */
export function partOfCount(count: number, stride = STRIDE): number {
  return fifth === undefined ? count : Math.floor(count / stride)
}

// Neighbours take about the same time, so each fifth gets every fifth test of a file.
beforeEach(({ task, skip }) => {
  if (fifth === undefined || LISTS.test(task.file.filepath)) return
  const isOther = (testsIn(task.file).indexOf(task) + task.file.name.length) % 5 !== Number(fifth)
  skip(isOther, 'in another fifth: `npm run test:stress -- --all` runs all of them')
})

function testsIn(task: RunnerTask): RunnerTask[] {
  return task.type === 'suite' ? task.tasks.flatMap(testsIn) : [task]
}
