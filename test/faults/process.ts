import { Effect } from "effect"
import { until } from "../processes/until.ts"
import { isRefused } from "../processes/RawConnection.ts"
import { at, type Fault } from "./Fault.ts"

const EVERYWHERE = ["sqlite", "postgres", "three on postgres"] as const

/** Faults of the server's process. */
export const processFaults: ReadonlyArray<Fault> = [
  {
    name: "kill -9 under load",
    cause: "SIGKILL at a random moment, then a start",
    seen: "Requests under way fail and are repeated. A notification that was being sent is sent again.",
    setups: EVERYWHERE,
    rounds: 10,
    prepare: at(
      Effect.fnUntraced(function* (stage) {
        const place = yield* stage.anyPlace
        yield* place.process().kill
        yield* stage.isOver
        yield* place.start
      }),
    ),
  },
  {
    name: "SIGTERM, and another",
    cause: "SIGTERM, a second one up to 1.2 s after the port is closed, then a start",
    seen: "Requests under way are answered. The port is closed until the next start.",
    setups: EVERYWHERE,
    rounds: 5,
    prepare: at(
      Effect.fnUntraced(function* (stage) {
        const place = yield* stage.anyPlace
        yield* place.process().signal("SIGTERM")
        yield* until("the port is closed", isRefused(place.port))
        yield* stage.anyMoment(1_200)
        yield* place.process().stop
        yield* stage.isOver
        yield* place.start
      }),
    ),
  },
]
