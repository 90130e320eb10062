/** A proxy on loopback whose connections are cut, delayed or sent twice, after a number of bytes. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** What happens to a connection. `bytes`: after so many bytes of one side. */
export type ConnectionFault =
  | { readonly kind: 'cut'; readonly side: 'client' | 'server'; readonly bytes: number }
  | { readonly kind: 'delay'; readonly ms: number }
  /** All that the client sent goes to the server once more, after the connection has ended. */
  | { readonly kind: 'double' }

export type FaultyProxy = Awaited<ReturnType<typeof startFaultyProxy>>

export async function startFaultyProxy(target: number) {
  let next: () => ConnectionFault | undefined = () => undefined
  const open = new Set<Socket>()
  const late = new Set<Promise<unknown>>()
  const server = createServer((client) => {
    const fault = next()
    const work = pass(client, target, fault, open).finally(() => late.delete(work))
    late.add(work)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    /** Chooses the fault of each new connection; undefined for none. */
    setFaults(choose: typeof next) {
      next = choose
    },
    /** Waits for what was delayed and doubled. */
    async settle() {
      while (late.size > 0) await Promise.all(late)
    },
    async close() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

async function pass(
  client: Socket,
  target: number,
  fault: ConnectionFault | undefined,
  open: Set<Socket>,
): Promise<void> {
  const sent: Buffer[] = []
  open.add(client)
  client.on('error', () => {})
  client.pause()
  if (fault?.kind === 'delay') await wait(fault.ms)
  const server = connect(target, '127.0.0.1')
  open.add(server)
  server.on('error', () => client.destroy())
  const left = { client: Number.POSITIVE_INFINITY, server: Number.POSITIVE_INFINITY }
  if (fault?.kind === 'cut') left[fault.side] = fault.bytes
  const forward = (from: Socket, to: Socket, side: 'client' | 'server'): void => {
    from.on('data', (piece: Buffer) => {
      const part = piece.subarray(0, left[side])
      left[side] -= part.length
      if (side === 'client') sent.push(part)
      to.write(part)
      if (left[side] > 0) return
      // What was passed on gets there; the answer does not.
      to.end()
      from.destroy()
      client.destroy()
    })
    from.on('end', () => to.end())
  }
  forward(client, server, 'client')
  forward(server, client, 'server')
  client.on('error', () => server.destroy())
  client.resume()
  await Promise.all([closed(client), closed(server)])
  for (const socket of [client, server]) open.delete(socket)
  if (fault?.kind === 'double') await sendAgain(Buffer.concat(sent), target)
}

function closed(socket: Socket): Promise<unknown> {
  return socket.destroyed ? Promise.resolve() : once(socket, 'close').catch(() => {})
}

async function sendAgain(bytes: Buffer, target: number): Promise<void> {
  const server = connect(target, '127.0.0.1')
  server.on('error', () => {})
  server.resume()
  server.end(bytes)
  await closed(server)
}
