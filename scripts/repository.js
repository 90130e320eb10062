// The address of the source. This is the only place to fill in: the owner and the name of the repository on GitHub.
// Then `node scripts/repository.js` writes `repository`, `homepage` and `bugs` of package.json, and a release is
// possible.
const REPOSITORY = 'OWNER/postflight-guard'

// `node scripts/repository.js --check [OWNER/NAME]` writes nothing. It fails if the place above is not filled in, if
// package.json says something else, or if the present repository is another one: npm refuses provenance then.
import { readFileSync, writeFileSync } from 'node:fs'

const file = new URL('../package.json', import.meta.url)
const [option, actual] = process.argv.slice(2)
const manifest = JSON.parse(readFileSync(file, 'utf8'))
const address = `https://github.com/${REPOSITORY}`
const fields = {
  repository: { type: 'git', url: `git+${address}.git` },
  homepage: `${address}#readme`,
  bugs: { url: `${address}/issues` },
}

/** The obstacle to publishing a release; undefined if there is none. */
function fault() {
  if (REPOSITORY.startsWith('OWNER/')) {
    return 'The address of the source is missing: replace OWNER in scripts/repository.js, and run `node scripts/repository.js`.'
  }
  if (option !== '--check') return undefined
  const wrong = Object.keys(fields).filter((key) => JSON.stringify(manifest[key]) !== JSON.stringify(fields[key]))
  if (wrong.length > 0) return `package.json has another ${wrong.join(', ')}: run \`node scripts/repository.js\`.`
  if (actual === undefined || actual === REPOSITORY) return undefined
  return `This is ${actual}, but scripts/repository.js says ${REPOSITORY}: npm would refuse the provenance.`
}

const wrong = fault()
if (wrong !== undefined) {
  console.error(wrong)
  process.exitCode = 1
} else if (option !== '--check') {
  writeFileSync(file, `${JSON.stringify({ ...manifest, ...fields }, null, 2)}\n`)
}
