// Can the tests fail? Stryker changes the pure files (biome.json lists them), and the unit and property tests must notice:
//
//   npm run test:mutation                            every folder that has some; continues where it was interrupted
//   npm run test:mutation -- stop run/machine        these folders
//   npm run test:mutation -- --changed               only the lines that changed since the last commit
//   npm run test:mutation -- --changed origin/main   since that commit
//
// Prints the score of each folder, and fails below LIMIT. The survivors of a folder are in .cache/mutation/FOLDER.log, and its
// results, which the next run uses again, in FOLDER.json; --force does without them.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { parseArgs } from 'node:util'
import fastGlob from 'fast-glob'

const SOURCES = 'src'
const KEPT = '.cache/mutation'
/** The lowest score, in percent. */
const LIMIT = 90
/** A few survivors of a small change say little: they may be equivalent to the code. */
const TOLERATED_IN_CHANGE = 4
/** The number of changed lines that are mutated: about a minute of work. More lines are mutated in part, evenly. */
const CHANGED_LINES = 120

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { changed: { type: 'boolean' }, force: { type: 'boolean' } },
})
mkdirSync(KEPT, { recursive: true })
process.exitCode = values.changed ? checkChange(positionals[0] ?? 'HEAD~1') : checkFolders(positionals)

/** All folders, or the named ones. */
function checkFolders(names) {
  const files = findPureFiles()
  const folderOf = (file) => posix.dirname(file).slice(SOURCES.length + 1)
  const known = [...new Set(files.map(folderOf))].sort()
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0) {
    console.error(`No pure file lies in "${unknown[0]}": use ${known.join(', ')}`)
    return 64
  }
  const scores = (names.length > 0 ? names : known).map((folder) =>
    runStryker(
      folder,
      files.filter((file) => folderOf(file) === folder),
      values.force ? ['--force'] : [],
    ),
  )
  return scores.every((score) => score !== undefined && score.percent >= LIMIT) ? 0 : 1
}

/** The pure files, which alone are mutated. */
function findPureFiles() {
  const { overrides } = JSON.parse(readFileSync('biome.json', 'utf8'))
  const pure = overrides.flatMap((one) => (one.linter.rules.style?.noRestrictedGlobals ? one.includes : []))
  const [left, taken] = [true, false].map((isLeft) => pure.filter((one) => one.startsWith('!') === isLeft))
  return fastGlob.sync(taken, { ignore: left.map((one) => one.slice(1)) }).sort()
}

/** The lines that differ from `base`. Values that are made when a module loads are left out: each needs all tests. */
function checkChange(base) {
  const found = spawnSync('git', ['rev-parse', '--verify', '--quiet', `${base}^{commit}`])
  if (found.status !== 0) {
    console.log(`mutation: there is no commit ${base} to compare with, so nothing is mutated`)
    return 0
  }
  const lines = changedLines(execFileSync('git', ['diff', '--unified=0', base, '--', SOURCES], { encoding: 'utf8' }))
  if (lines.length === 0) {
    console.log(`mutation: no pure file changed since ${base}`)
    return 0
  }
  const step = Math.max(1, lines.length / CHANGED_LINES)
  const chosen = lines.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step))
  console.log(`mutation: ${chosen.length} of the ${lines.length} lines that changed since ${base}`)
  rmSync(keptFile('changed', 'json'), { force: true })
  const score = runStryker('changed', chosen, ['--ignoreStatic'])
  if (score === undefined) return 1
  return score.percent >= LIMIT || score.survived <= TOLERATED_IN_CHANGE ? 0 : 1
}

/** The added lines of a diff, as Stryker's `FILE:LINE-LINE`. */
function changedLines(diff) {
  const pure = new Set(findPureFiles())
  let file = ''
  return diff.split('\n').flatMap((line) => {
    if (line.startsWith('+++ ')) file = line.slice('+++ b/'.length)
    const [, start, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? []
    if (start === undefined || !pure.has(file)) return []
    return Array.from(
      { length: Number(count) },
      (_, index) => `${file}:${Number(start) + index}-${Number(start) + index}`,
    )
  })
}

/** Runs Stryker, prints a line, and writes the survivors. Returns undefined when it could not run. */
function runStryker(name, mutate, words) {
  const file = keptFile(name, 'json')
  const log = keptFile(name, 'log')
  const stryker = ['stryker', 'run', '--mutate', mutate.join(), '--incremental', '--incrementalFile', file, ...words]
  // Mutants run in threads, which cannot change their zone: in UTC no test tells a time that is read as local.
  const env = { ...process.env, TZ: 'Asia/Tokyo' }
  const shell = process.platform === 'win32'
  const ran = spawnSync('npx', stryker, { encoding: 'utf8', env, shell, maxBuffer: 2 ** 28 })
  const mutants = ran.status === 0 || ran.status === 1 ? readMutants(file) : undefined
  if (mutants === undefined) {
    writeFileSync(log, `${ran.stdout}${ran.stderr}`)
    console.log(`${name.padEnd(16)} Stryker failed: see ${log}`)
    return undefined
  }
  const survivors = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
  const killed = mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout').length
  const valid = killed + survivors.length
  const percent = valid === 0 ? 100 : (100 * killed) / valid
  const left = mutants.filter(({ status }) => status === 'Ignored').length
  writeFileSync(log, survivors.map(describe).join(''))
  console.log(
    `${name.padEnd(16)} ${percent.toFixed(1).padStart(5)} %  ${killed} of ${valid} mutants${left > 0 ? `, ${left} left out` : ''}`,
  )
  for (const survivor of values.changed ? survivors : []) process.stdout.write(describe(survivor))
  return { percent, survived: survivors.length }
}

/** The file of a folder's results or survivors. */
function keptFile(name, extension) {
  return join(KEPT, `${name.replaceAll('/', '-')}.${extension}`)
}

function readMutants(file) {
  try {
    const { files } = JSON.parse(readFileSync(file, 'utf8'))
    return Object.entries(files).flatMap(([path, { source, mutants }]) =>
      mutants.map((mutant) => ({ ...mutant, path, code: codeAt(source, mutant.location) })),
    )
  } catch {
    return undefined
  }
}

/** The first line of the code at a place. Lines and columns count from 1. */
function codeAt(source, { start, end }) {
  const line = source.split('\n')[start.line - 1] ?? ''
  return line.slice(start.column - 1, end.line === start.line ? end.column - 1 : undefined)
}

function describe({ path, location, code, replacement, status }) {
  const how = status === 'NoCoverage' ? 'no test runs' : 'survives'
  return `${path}:${location.start.line} ${how}: ${code} -> ${replacement?.split('\n')[0]}\n`
}
