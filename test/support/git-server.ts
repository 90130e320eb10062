/** Serves a git repository by HTTP on loopback, as a forge does: git's own CGI program answers. */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream'

/** Starts a server of every repository in `folder`. Anyone may clone them. */
export async function startGitServer(folder: string) {
  const backend = join(execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim(), 'git-http-backend')
  const server = createServer((request, response) => answer(request, response, backend, folder))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    urlOf: (name: string) => `http://127.0.0.1:${port}/${name}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function answer(request: IncomingMessage, response: ServerResponse, backend: string, folder: string): void {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const child = spawn(backend, {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: request.method,
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  // The program may end before it has read all, and a client may leave before it has sent all.
  pipeline(request, child.stdin, () => {})
  const parts: Buffer[] = []
  child.stdout.on('data', (part: Buffer) => parts.push(part))
  child.once('close', () => {
    const output = Buffer.concat(parts)
    const end = output.indexOf('\r\n\r\n')
    const headers = output.subarray(0, end).toString('latin1').split('\r\n')
    for (const header of headers) {
      const [name = '', value = ''] = header.split(/: (.*)/)
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10)
      else if (name !== '') response.setHeader(name, value)
    }
    response.end(output.subarray(end + 4))
  })
}
