// Draws docs/demo.svg, the picture in README, from what the demo prints. `npm run picture` builds first; with --check
// it writes nothing, and fails if the picture has changed.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const FILE = new URL('../docs/demo.svg', import.meta.url)
const COLUMNS = 100
const CHARACTER = 7.8
const LINE = 19
const MARGIN = 20
const BAR = 34
/** The line that the picture leaves out: a path of the machine. */
const OMITTED = /\(where `postflight` is not on the PATH/

/** The colours of a terminal on a dark ground, by the codes that the demo prints. Dim text must stay readable. */
const COLOURS = { 2: '#9aa7b4', 32: '#3fb950', 33: '#e3b341', 36: '#56d4dd' }
const ESCAPES = /\u001b\[(\d+)m/

/** The parts of a line: text with the codes that apply to it. */
function partsOf(line) {
  const parts = []
  let codes = []
  for (const [index, piece] of line.split(ESCAPES).entries()) {
    if (index % 2 === 0) {
      if (piece !== '') parts.push({ text: piece, codes })
    } else if (piece === '22') codes = codes.filter((code) => code !== '1' && code !== '2')
    else if (piece === '39') codes = codes.filter((code) => Number(code) < 30)
    else codes = [...codes, piece]
  }
  return parts
}

const plain = (line) => line.replace(new RegExp(ESCAPES, 'g'), '')

/** Breaks a line at spaces, and indents what follows. */
function wrapped(line) {
  if (plain(line).length <= COLUMNS) return [partsOf(line)]
  const indent = /^[ │]*/.exec(plain(line))[0].padEnd(6)
  const lines = [[]]
  let used = 0
  for (const { text, codes } of partsOf(line)) {
    for (const word of text.split(/(?<= )/)) {
      if (used + word.trimEnd().length > COLUMNS) {
        lines.push([{ text: indent, codes }])
        used = indent.length
      }
      lines.at(-1).push({ text: word, codes })
      used += word.length
    }
  }
  return lines
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** A line of the picture. Every part has its place and its width, so that any font fits. */
function drawn(parts, number) {
  const y = BAR + MARGIN + number * LINE
  let column = 0
  return parts.map(({ text, codes }) => {
    const x = (MARGIN + column * CHARACTER).toFixed(1)
    column += text.length
    const [colour] = codes.map((code) => COLOURS[code]).filter((found) => found !== undefined)
    const attributes = [colour && `fill="${colour}"`, codes.includes('1') && 'class="bold"'].filter(Boolean)
    const width = (text.length * CHARACTER).toFixed(1)
    if (text.trim() === '') return ''
    return `<text ${[`x="${x}" y="${y}" textLength="${width}"`, ...attributes].join(' ')}>${escaped(text)}</text>`
  })
}

function transcript() {
  const run = spawnSync(process.execPath, [fileURLToPath(new URL('demo.js', import.meta.url))], {
    env: { PATH: process.env.PATH, FORCE_COLOR: '1' },
    encoding: 'utf8',
  })
  if (run.status !== 0) throw new Error(run.stderr)
  return run.stdout
}

/** The demo's chapters 1 to 3. Times differ from run to run. */
function shownLines() {
  const lines = transcript().split('\n')
  const chapter = (number) => lines.findIndex((line) => plain(line).startsWith(`${number}. `))
  return lines
    .slice(chapter(1), chapter(4) - 1)
    .filter((line) => !OMITTED.test(plain(line)))
    .map((line) => line.replace(/\d+\.\d s/, '0.1 s'))
    .flatMap((line) => (line === '' ? [[]] : wrapped(line)))
}

function picture() {
  const lines = shownLines()
  const width = Math.ceil(MARGIN * 2 + COLUMNS * CHARACTER)
  const height = BAR + MARGIN + lines.length * LINE + 4
  const rows = lines.map((parts, number) => drawn(parts, number).join(''))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">
<title id="title">The output of npm run demo: a stop is blocked until the tests pass.</title>
<style>
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}
.bold{font-weight:bold}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="9" fill="#0d1117" stroke="#6e7681"/>
<circle cx="20" cy="17" r="5" fill="#f85149"/><circle cx="38" cy="17" r="5" fill="#e3b341"/><circle cx="56" cy="17" r="5" fill="#3fb950"/>
<text x="${width / 2}" y="22" text-anchor="middle" fill="#9aa7b4">npm run demo</text>
<g fill="#e6edf3" xml:space="preserve">
${rows.filter((row) => row !== '').join('\n')}
</g>
</svg>
`
}

if (!process.argv.includes('--check')) writeFileSync(FILE, picture())
else if (readFileSync(FILE, 'utf8') !== picture()) {
  console.error('docs/demo.svg does not show what the demo prints: run `npm run picture`.')
  process.exitCode = 1
}
