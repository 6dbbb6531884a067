import { Effect } from "effect"
import type { Kept } from "./corpus.ts"
import { Draw } from "./Draw.ts"
import { exchange } from "./exchange.ts"
import { differ, faultsOf, featuresOf, PROBE } from "./faultsOf.ts"
import { generated } from "./generated.ts"
import { type Input, SECRETS } from "./Input.ts"
import { mutated } from "./mutated.ts"
import { startTarget, type Target } from "./target.ts"

export interface RoundOptions {
  readonly seed: number
  /** How many inputs are drawn, after those of the corpus. */
  readonly count: number
  readonly corpus: ReadonlyArray<Kept>
  /** When to stop, by `performance.now()`; all of them are sent unless given. */
  readonly until?: number
}

export interface RoundResult {
  readonly sent: number
  /** Inputs with an answer that no input before them had. */
  readonly found: ReadonlyArray<Kept>
  /** The faults, with the input after which they were seen. */
  readonly faults: ReadonlyArray<string>
}

/** A connection that begins with an empty line is taken by node:http and the API. */
const BY_API = "\r\n"

/** Requests that the front takes, if they are usual. */
const FOR_FRONT = /^POST \/api\/v1\/(?:heartbeat|events) /

/** A good request on another connection follows so many inputs. */
const BETWEEN_LOOKS = 100

const QUIET_MILLIS = 40
/** A whole request is answered, however busy the machine is. */
const PATIENCE_MILLIS = 10_000

/** A server closes the connection of a larger body before it has read what follows. */
const MOST_BYTES = 1_048_576

/** Sends an input and a good request to both servers, to one of them by way of the API. */
const send = ({ writes, request }: Input, [front, api]: readonly [Target, Target]) => {
  const isStream = request?.target.includes("/stream") === true
  const silence = {
    beforeMillis: request === undefined ? QUIET_MILLIS : PATIENCE_MILLIS,
    afterMillis: request === undefined || isStream ? QUIET_MILLIS : PATIENCE_MILLIS,
  }
  const isLarge = writes.join("").length > MOST_BYTES
  const [first = "", ...rest] = isLarge ? writes : [...writes, PROBE]
  return Promise.all([
    exchange(front.server.port, [first, ...rest], silence),
    exchange(api.server.port, [BY_API + first, ...rest], silence),
  ])
}

/** The faults in whole lines of a log. */
const faultsOfLines = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const isLine = (line: string): boolean => {
    try {
      return typeof JSON.parse(line) === "object"
    } catch {
      return false
    }
  }
  return lines.flatMap((line) => [
    ...SECRETS.filter((secret) => line.includes(secret)).map((secret) => `the log shows ${secret}: ${line}`),
    ...(isLine(line) ? [] : [`no line of the log: ${line}`]),
    ...(/"level":"(?:ERROR|FATAL)"/i.test(line) ? [`logged: ${line}`] : []),
  ])
}

const inputsOf = ({ seed, count, corpus }: RoundOptions, { judges }: Target): ReadonlyArray<Input> => {
  const draw = new Draw(seed)
  const whole = generated(judges, { seed, count: Math.ceil(count / 2) })
  const pool = [...corpus, ...whole]
  const drawn = (): Input => pool[draw.below(pool.length)] ?? { writes: [PROBE] }
  const odd = Array.from({ length: count - whole.length }, () => mutated(drawn(), drawn(), draw))
  return [...corpus.map(({ writes }) => ({ writes })), ...whole, ...odd]
}

/** Looks at what a server has logged since the last look, and whether it takes a good request. */
const lookAt = (target: Target) => {
  let seen = 0
  return async (): Promise<ReadonlyArray<string>> => {
    const { stderr } = target.server.output
    const end = stderr.lastIndexOf("\n") + 1
    const faults = faultsOfLines(stderr.slice(seen, end).split("\n").slice(0, -1))
    seen = end
    return (await target.isSound()) ? faults : [...faults, "a good heartbeat is refused"]
  }
}

/** Sends the inputs of a seed to two new servers, until a fault is found. */
export const runRound = Effect.fnUntraced(function* (options: RoundOptions) {
  const targets = [yield* startTarget, yield* startTarget] as const
  const [front] = targets
  const inputs = inputsOf(options, front)
  const looks = targets.map(lookAt)
  const known = new Set(options.corpus.flatMap(({ shows }) => shows))
  const found: Array<Kept> = []
  let sent = 0
  const faultsAfter = async (input: Input): Promise<ReadonlyArray<string>> => {
    const [received, byApi] = await send(input, targets)
    sent += 1
    const shows = Array.from(new Set(featuresOf(received))).filter((feature) => !known.has(feature))
    for (const feature of shows) known.add(feature)
    if (shows.length > 0) found.push({ shows, writes: input.writes })
    const isLookedAt = sent % BETWEEN_LOOKS === 0 || sent === inputs.length
    return [
      ...faultsOf(input, received, front.judges),
      ...faultsOf(input, byApi, front.judges),
      ...(FOR_FRONT.test(input.writes[0] ?? "") && differ(received, byApi)
        ? [`the front answers ${received.text}\nthe API answers ${byApi.text}`]
        : []),
      ...(isLookedAt ? await Promise.all(looks.map((look) => look())) : []).flat(),
    ]
  }
  const result = yield* Effect.promise(async (): Promise<RoundResult> => {
    for (const input of inputs) {
      if (performance.now() > (options.until ?? Number.POSITIVE_INFINITY)) break
      const faults = await faultsAfter(input)
      if (faults.length > 0) {
        const bytes = JSON.stringify({ shows: faults, writes: input.writes })
        return { sent, found, faults: [...faults, `input ${sent} of seed ${options.seed}: ${bytes}`] }
      }
    }
    return { sent, found, faults: [] }
  })
  return result
}, Effect.scoped)
