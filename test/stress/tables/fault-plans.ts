/** Plans: the faults for the calls of each program. */

import type { Happening, Room } from '../support/fault-runner.ts'
import { ERROR_CODES, type Fault, KILLS } from '../support/instrument.ts'
import { randomOf } from '../support/scheduler.ts'
import { type Blow, campaign, fail, kill, type Measured, type Tally } from './fault-cases.ts'
import { OTHERS_ON_A_MARKER, STOP } from './fault-programs.ts'

type Happenings = Iterable<(room: Room) => Happening>

/** The ways in which a process can be killed at a call: a write can also be cut in half. */
function endsAt(call: string): Fault[] {
  return ['kill', ...(call.startsWith('writeSync ') ? (['kill-half'] as const) : []), 'kill-after']
}

/** The errors of a call: each one once or from then on, and a disk that takes only half of a write. */
function errorsAt(call: string): Fault[] {
  // Errors of stdout and stderr are left out: the program could not report them.
  if (/ <std\w+>$/.test(call)) return []
  const errors = ERROR_CODES.flatMap((code): Fault[] => [`error:${code}`, `errors:${code}`])
  return call.startsWith('writeSync ') ? [...errors, 'short'] : errors
}

/** Kills each program at each of its calls; `takes` leaves some out. */
export function* everyKill(
  programs: readonly Measured[],
  tally: Tally,
  takes: (measured: Measured, call: number, fault: Fault) => boolean = () => true,
): Happenings {
  for (const measured of programs) {
    for (const [index, call] of measured.calls.entries()) {
      for (const fault of endsAt(call).filter((one) => takes(measured, index, one)))
        yield (room) => kill(measured, room, { ...startOf(measured, room), at: index + 1, fault }, tally)
    }
  }
}

/** Makes each call of each program fail; every `followEvery`th time the program runs again, and stops follow. */
export function* everyError(
  programs: readonly Measured[],
  tally: Tally,
  followEvery: number,
  takes: () => boolean = () => true,
): Happenings {
  let count = 0
  for (const measured of programs) {
    for (const [index, call] of measured.calls.entries()) {
      for (const fault of errorsAt(call)) {
        if (!takes()) continue
        count += 1
        const isFollowed = count % followEvery === 0
        yield (room) => fail(measured, room, { ...startOf(measured, room), at: index + 1, fault }, isFollowed, tally)
      }
    }
  }
}

function startOf({ program }: Measured, room: Room) {
  return { program: program.run(room.project) }
}

/** Campaigns in which stops of one marker are killed at one call after another, beginning at each call. */
export function* killsInTurn(measured: Measured, tally: Tally): Happenings {
  const blows = measured.calls.flatMap((call, index) =>
    endsAt(call).map((fault, way): Blow => ({ at: index + 1, fault, later: (index + way) % 3 === 0 })),
  )
  for (let first = 0; first < blows.length; first++) {
    const rest = blows.slice(first)
    yield (room) => campaign(measured, room, [STOP], () => rest.shift(), tally)
  }
}

/** Campaigns of random kills; among the stops are other programs that keep the count. */
export function* randomKills(measured: Measured, count: number, seed: number, tally: Tally): Happenings {
  const random = randomOf(seed)
  const below = (limit: number): number => Math.floor(random() * limit)
  for (let index = 0; index < count; index++) {
    const others = index % 2 === 0 ? [] : [OTHERS_ON_A_MARKER[below(OTHERS_ON_A_MARKER.length)] ?? STOP]
    const blows = Array.from({ length: 4 + below(30) }, (): Blow => {
      const fault = KILLS[below(3)] ?? 'kill'
      return { at: 1 + below(measured.calls.length + 10), fault, later: random() < 0.4 }
    })
    yield (room) => campaign(measured, room, [STOP, ...others], () => blows.shift(), tally)
  }
}
