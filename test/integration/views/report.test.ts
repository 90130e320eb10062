/** `postflight report`: its text, its data, and its page as a browser draws it. */

import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, CHROMIUM, startChromium } from '../../support/chromium.ts'
import { SESSION, stop } from '../../support/payloads.ts'
import { skipNote } from '../../support/process.ts'
import { createSourceProject, type Project } from '../../support/project.ts'
import { markerLines, reportDefinition, reportRun, writeMarker, writeRun } from '../../support/report-project.ts'

const HOUR = 3_600_000
/** Where a person finds the pictures of the last run. */
const PICTURES = process.env.POSTFLIGHT_PICTURES

/** A project with everything that a page can show. */
function eventfulProject(): Project {
  const project = createSourceProject({ name: 'prove-completeness' })
  const nowMs = Date.now()
  const before = (hours: number): number => nowMs - hours * HOUR
  writeRun(project, '257_parser', reportRun(before(30), 'completed'))
  const steps = [
    { name: 'update status', done: true },
    { name: 'git commit', done: false },
  ]
  writeMarker(project, '258_deploy', before(28), { steps }, true)
  writeMarker(project, '259_prove_completeness', before(0.4), { steps, checks: [{ run: 'npm test' }] })
  writeRun(project, '259_prove_completeness', reportRun(before(4), 'stalled'))
  writeRun(project, '260_release_notes', reportRun(before(0.7), undefined))
  const lines = [
    markerLines('257_parser', before(30), 'cleared'),
    markerLines('257_parser', before(29), 'waited'),
    markerLines('258_deploy', before(28), 'capped'),
    markerLines('259_prove_completeness', before(5), 'cleared'),
    markerLines('259_prove_completeness', before(0.4), 'open'),
    markerLines('260_release_notes', before(3), 'waited'),
  ]
  project.write('specs/.postflight/journal.jsonl', lines.join(''))
  return project
}

/** Names that would be markup, a script, or the end of an attribute. */
const HOSTILE = '"><img src=x onerror=alert(1)><script>document.title="harm"</script>'

function hostileProject(): Project {
  const project = createSourceProject({ name: 'x <b>bold<' })
  const nowMs = Date.now() - HOUR
  const task = `260_${HOSTILE.replaceAll('/', '∕')}`
  writeMarker(project, task, nowMs, {
    ...{ operation: HOSTILE, skill: HOSTILE, reason: HOSTILE, wait: { for: HOSTILE, count: 1 } },
    steps: [{ name: HOSTILE, done: false }],
    checks: [{ run: HOSTILE }],
  })
  const run = reportRun(nowMs, 'stalled', reportDefinition(HOSTILE))
  writeRun(project, task, { ...run, why: HOSTILE, hostSession: HOSTILE })
  const time = new Date(nowMs).toISOString()
  const lines = [
    markerLines(task, nowMs, 'open').trim(),
    JSON.stringify({ event: 'error', time, task: HOSTILE, detail: HOSTILE }),
    JSON.stringify({ event: HOSTILE, time, task }),
    'not JSON\n{"event":"create"}\n{"event":"create","time":7,"task":[]}\n',
  ]
  project.write('specs/.postflight/journal.jsonl', lines.join('\n'))
  return project
}

async function pageOf(project: Project, ...words: string[]): Promise<string> {
  const run = await project.cli(['report', ...words, '--html', 'report.html'])
  expect(run.status, run.stderr).toBe(0)
  return project.at('report.html')
}

describe('postflight report', () => {
  it('tells what really happened: a marker, its block and its end', async () => {
    const project = createSourceProject()
    const env = { POSTFLIGHT_HOST_SESSION: SESSION }
    await project.cli(['create', '259', 'x', '--operation', 'research', '--agent', 'main', '--step', 'one'], { env })
    await project.hook(stop())
    await project.cli(['step', '259', 'one'], { env })
    await project.cli(['clear', '259'], { env })
    await project.cli(['create', '259', '--operation', 'plan', '--agent', 'main'], { env })
    const { tasks, file } = (await project.cli(['report', '--json'])).json()
    const { stdout } = await project.cli(['report', '259'])
    expect(file).toBe(null)
    expect(tasks.map(({ task }: { task: string }) => task)).toEqual(['259_x'])
    const [first, second] = tasks[0].promises
    expect(first).toMatchObject({ standing: 'cleared', blocks: 1, waits: 0 })
    expect(first.events.map(({ words }: { words: string }) => words)).toEqual([
      'marker created',
      'stop blocked: 1 of 3',
      expect.stringMatching(/^step done: /),
      'cleared',
    ])
    expect(second).toMatchObject({ standing: 'pending', blocks: 0 })
    expect(stdout).toMatch(/^259_x\n {2}Marker pf_\w+: cleared · /)
    expect(stdout).toContain('stop blocked: 1 of 3')
  })

  it('of one task leaves out the others', async () => {
    const { tasks } = (await eventfulProject().cli(['report', '258', '--json'])).json()
    expect(tasks.map(({ task }: { task: string }) => task)).toEqual(['258_deploy'])
  })

  it('shows a run that cannot be read as an event of its own', async () => {
    const project = eventfulProject()
    project.write('specs/257_parser/workflow/state.json', '{')
    const { stdout } = await project.cli(['report'])
    expect(stdout).toMatch(/Other events\n.*257_parser: error: .*state\.json/)
  })

  it('prints the page with --html -', async () => {
    const { stdout } = await eventfulProject().cli(['report', '--html', '-'])
    expect(stdout).toMatch(/^<!doctype html>.*<\/html>\n$/s)
  })

  it('replaces the last page, and nothing but a file', async () => {
    const project = eventfulProject()
    mkdirSync(project.at('out'))
    writeFileSync(project.at('report.html'), 'old')
    await pageOf(project)
    expect(project.read('report.html')).toMatch(/^<!doctype html>.*258_deploy/s)
    const folder = await project.cli(['report', '--html', 'out'])
    expect([folder.status, folder.stderr]).toEqual([73, expect.stringContaining('out')])
    symlinkSync(project.at('flow.json'), project.at('link.html'))
    expect((await project.cli(['report', '--html', 'link.html'])).status).toBe(73)
    expect((await project.cli(['report', '--html', 'no/such/folder.html'])).status).toBe(73)
    mkdirSync(join(project.base, 'theirs/deep'), { recursive: true })
    symlinkSync(join(project.base, 'theirs'), project.at('linked'))
    for (const file of ['linked/report.html', 'linked/deep/report.html', project.at('linked/report.html')]) {
      const stderr = expect.stringContaining('a link that leads out of the project')
      expect(await project.cli(['report', '--html', file])).toMatchObject({ status: 73, stderr })
    }
    expect((await project.cli(['report', '--html', '../theirs/report.html'])).status).toBe(0)
    expect(Object.keys(project.snapshot('../theirs')).sort()).toEqual(['deep', 'report.html'])
  })

  it('has no markup, script or request but its own, whatever names hold', async () => {
    const project = hostileProject()
    await pageOf(project)
    const text = project.read('report.html')
    expect(text).not.toMatch(/<script|<img|<b>bold|onerror=alert\(1\)>(?!&)|https?:/)
    expect(text).toContain('&lt;script&gt;')
    // Each quote of a name is escaped, so no attribute ends early.
    expect(text).not.toContain('"><img')
    expect(text).toContain("default-src 'none'")
  })
})

// CI installs Chromium: .ci/run.
describe.skipIf(CHROMIUM === undefined)(
  `the page in Chromium${skipNote(CHROMIUM !== undefined, 'Chromium is not installed')}`,
  () => {
    let browser: Browser

    beforeAll(() => {
      browser = startChromium(CHROMIUM ?? '')
    })
    afterAll(() => browser.close())

    // A width and a colour scheme do not depend on each other.
    it.each([
      ['light', 1200, 'light'],
      ['phone-dark', 320, 'dark'],
    ] as const)('%s: is drawn without a request, and nothing is wider than the window', async (name, width, scheme) => {
      const file = await pageOf(eventfulProject())
      const page = await browser.open(pathToFileURL(file).href, { width, scheme })
      if (PICTURES !== undefined) writeFileSync(join(PICTURES, `report-${name}.png`), await page.picture())
      expect(page.requests).toEqual([pathToFileURL(file).href])
      expect(page.messages).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      const outside = `[...document.querySelectorAll('body *')].filter((one) => {
      const { left, right, width } = one.getBoundingClientRect()
      return width > 0 && (left < -0.5 || right > innerWidth + 0.5)
    }).map((one) => one.outerHTML.slice(0, 80))`
      expect(await page.evaluate(outside)).toEqual([])
      expect(await page.evaluate(CONTRAST)).toBeGreaterThan(4.5)
      expect(await page.evaluate("getComputedStyle(document.querySelector('.track i')).printColorAdjust")).toBe('exact')
      const ground = scheme === 'dark' ? 'rgb(18, 22, 28)' : 'rgb(246, 247, 249)'
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(ground)
      expect(await page.evaluate("document.querySelectorAll('.graph .node').length")).toBe(12)
      expect(await page.evaluate("document.querySelectorAll('details.task').length")).toBe(4)
    })

    it('shows hostile names as text', async () => {
      const file = await pageOf(hostileProject())
      const page = await browser.open(pathToFileURL(file).href, { width: 390 })
      expect(await page.evaluate('document.title')).toBe('Postflight report: x <b>bold<')
      expect(await page.evaluate("document.querySelectorAll('img, script, b b').length")).toBe(0)
      const heading = await page.evaluate("document.querySelector('details.task h3').textContent")
      expect(heading).toContain('<img src=x onerror')
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
      expect(page.messages).toEqual([])
    })

    it('of a hundred folders with two markers and a run each has under 1.5 MB, and is drawn in under two seconds', async () => {
      const project = createSourceProject()
      const lines: string[] = []
      for (let number = 1; number <= 100; number++) {
        const task = `${String(number).padStart(3, '0')}_task_of_a_usual_name`
        const startMs = Date.now() - number * 5 * HOUR
        lines.push(markerLines(task, startMs, 'cleared'), markerLines(task, startMs + HOUR, 'waited'))
        writeRun(project, task, reportRun(startMs + 2 * HOUR, number % 5 === 0 ? 'stalled' : 'completed'))
      }
      project.write('specs/.postflight/journal.jsonl', lines.join(''))
      const file = await pageOf(project)
      const page = await browser.open(pathToFileURL(file).href, { width: 1200 })
      if (PICTURES !== undefined) {
        writeFileSync(join(PICTURES, 'report-hundred.png'), await page.picture({ top: 0, height: 4000 }))
        console.log(`a hundred folders: ${statSync(file).size} bytes, drawn in ${Math.round(page.drawnMs)} ms`)
      }
      expect(statSync(file).size).toBeLessThan(1_500_000)
      expect(page.drawnMs).toBeLessThan(2_000)
      expect(await page.evaluate("document.querySelectorAll('details.task').length")).toBe(100)
      await page.evaluate(`document.querySelector('a[href="#t9"]').click()`)
      expect(await page.evaluate("document.querySelectorAll('details.task[open]').length")).toBe(2)
    })
  },
)

/** The lowest contrast of the page's text and its badges with their ground, as WCAG computes it. */
const CONTRAST = `Math.min(...[...document.querySelectorAll('body, .badge')].map((one) => {
  const { color, backgroundColor } = getComputedStyle(one)
  const [low, high] = [color, backgroundColor].map((colour) => {
    const [r, g, b] = colour.match(/\\d+/g).map((part) => {
      const share = part / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }).sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}))`
