/** Drives a headless Chromium over a pipe: opens pages as a reader would, measures them and takes pictures. */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { canRun } from './process.ts'

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome']

/** The browser of this machine; undefined if there is none. */
export const CHROMIUM: string | undefined = PROGRAMS.find((program) => canRun(`command -v ${program}`))

interface Look {
  readonly width: number
  readonly height?: number
  readonly scheme?: 'light' | 'dark'
}

export type Browser = ReturnType<typeof startChromium>
type Fields = Readonly<Record<string, unknown>>

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Fields
  readonly result?: Fields
  readonly error?: { readonly message: string }
}

export function startChromium(program: string) {
  const profile = mkdtempSync(join(tmpdir(), 'postflight-chromium-'))
  const env = { ...process.env, HOME: profile, TMPDIR: profile }
  const child = spawn(
    program,
    [
      ...['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars'],
      ...['--no-first-run', '--disable-background-networking', `--user-data-dir=${profile}`, '--remote-debugging-pipe'],
    ],
    // A process group of its own, so that the processes that it starts end with it.
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true, env },
  )
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const { call, listen } = connect(child)

  /** Opens a page, waits until it is drawn, and looks at it. */
  const open = async (url: string, { width, height = 900, scheme = 'light' }: Look) => {
    const { targetId } = await call('Target.createTarget', { url: 'about:blank' })
    const { sessionId } = await call('Target.attachToTarget', { targetId, flatten: true })
    const session = String(sessionId)
    const ask = (method: string, params: Fields = {}): Promise<Fields> => call(method, params, session)
    const requests: string[] = []
    const messages: string[] = []
    let loaded: () => void = () => {}
    const isLoaded = new Promise<void>((resolve) => {
      loaded = resolve
    })
    listen(session, ({ method, params = {} }) => {
      if (method === 'Network.requestWillBeSent') requests.push(String((params.request as Fields).url))
      if (method === 'Log.entryAdded') messages.push(String((params.entry as Fields).text))
      if (method === 'Runtime.consoleAPICalled') messages.push(JSON.stringify(params.args))
      if (method === 'Page.loadEventFired') loaded()
    })
    await Promise.all(['Page', 'Network', 'Log', 'Runtime'].map((domain) => ask(`${domain}.enable`)))
    const isNarrow = width < 500
    await ask('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: isNarrow })
    await ask('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] })
    const started = performance.now()
    await ask('Page.navigate', { url })
    await isLoaded
    const evaluate = async (expression: string): Promise<unknown> => {
      const { result } = await ask('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
      return (result as Fields).value
    }
    await evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))')
    // From the beginning of the navigation to the first frame after all was laid out.
    const drawnMs = performance.now() - started
    const picture = async (part?: { readonly top: number; readonly height: number }): Promise<Buffer> => {
      const { cssContentSize } = await ask('Page.getLayoutMetrics')
      const { height: whole } = cssContentSize as { readonly height: number }
      const clip = { x: 0, y: part?.top ?? 0, width, height: part?.height ?? Math.min(whole, 12_000), scale: 1 }
      const { data } = await ask('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true, clip })
      return Buffer.from(String(data), 'base64')
    }
    return { drawnMs, requests, messages, evaluate, picture }
  }

  return {
    open,
    close: async () => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      await ended
      // Processes that were killed may still end a write.
      await rm(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
    },
  }
}

/** The protocol of the browser: JSON documents with a zero byte after each. */
function connect(child: ChildProcess) {
  const [, , , input, output] = child.stdio as unknown as [null, null, null, Writable, Readable]
  const waiting = new Map<number, (message: Message) => void>()
  const listeners = new Map<string, (message: Message) => void>()
  let last = 0
  let text = ''
  output.setEncoding('utf8').on('data', (chunk: string) => {
    const documents = (text + chunk).split('\0')
    text = documents.pop() ?? ''
    for (const document of documents) {
      const message = JSON.parse(document) as Message & { readonly sessionId?: string }
      if (message.id === undefined) listeners.get(message.sessionId ?? '')?.(message)
      else waiting.get(message.id)?.(message)
    }
  })
  const call = (method: string, params: Fields = {}, sessionId?: string): Promise<Fields> =>
    new Promise((resolve, reject) => {
      const id = ++last
      waiting.set(id, ({ result, error }) => {
        waiting.delete(id)
        if (error === undefined) resolve(result ?? {})
        else reject(new Error(`${method}: ${error.message}`))
      })
      input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
    })
  return { call, listen: (session: string, listener: (message: Message) => void) => listeners.set(session, listener) }
}
