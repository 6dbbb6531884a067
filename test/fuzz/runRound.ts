import { Effect } from "effect"
import type { Kept } from "./corpus.ts"
import { Draw } from "./Draw.ts"
import { exchange } from "./exchange.ts"
import { differ, faultsOf, featuresOf, PROBE } from "./faultsOf.ts"
import { generated } from "./generated.ts"
import { type Input, SECRETS } from "./Input.ts"
import { mutated } from "./mutated.ts"
import { sendersRequests } from "./senders.ts"
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

/** Where a sender has its key: a mutation may move it to where it is published. */
const PLACE =
  /((?:^|\n)(?:[A-Z]+ \/in\/[a-z]+\/(?:\?token=)?|authorization: bearer |token=))(in_[a-z-]{43})/gi

/** A text with the keys of a server's integrations instead of their placeholders. */
const withKeys = (text: string, keys: Target["keys"]): string =>
  text.replaceAll(PLACE, (_, place: string, found: string) => place + (keys.get(found) ?? found))

/** Sends an input and a good request to both servers, to one of them by way of the API. */
const send = ({ writes, request }: Input, [front, api]: readonly [Target, Target]) => {
  const isStream = request?.target.includes("/stream") === true
  const silence = {
    beforeMillis: request === undefined ? QUIET_MILLIS : PATIENCE_MILLIS,
    afterMillis: request === undefined || isStream ? QUIET_MILLIS : PATIENCE_MILLIS,
  }
  const isLarge = writes.join("").length > MOST_BYTES
  const all = isLarge ? writes : [...writes, PROBE]
  return Promise.all(
    [front, api].map(({ keys, server }, index) => {
      const [first = "", ...rest] = all.map((text) => withKeys(text, keys))
      return exchange(server.port, [(index === 0 ? "" : BY_API) + first, ...rest], silence)
    }),
  )
}

/** The faults in whole lines of a log. */
const faultsOfLines = (
  lines: ReadonlyArray<string>,
  secrets: ReadonlyArray<string>,
): ReadonlyArray<string> => {
  const isLine = (line: string): boolean => {
    try {
      return typeof JSON.parse(line) === "object"
    } catch {
      return false
    }
  }
  return lines.flatMap((line) => [
    ...secrets.filter((secret) => line.includes(secret)).map((secret) => `the log shows ${secret}: ${line}`),
    ...(isLine(line) ? [] : [`no line of the log: ${line}`]),
    ...(/"level":"(?:ERROR|FATAL)"/i.test(line) ? [`logged: ${line}`] : []),
  ])
}

const inputsOf = ({ seed, count, corpus }: RoundOptions, { judges }: Target): ReadonlyArray<Input> => {
  const draw = new Draw(seed)
  const whole = [
    ...generated(judges, { seed, count: Math.ceil(count / 3) }),
    ...sendersRequests({ seed, count: Math.ceil(count / 6) }),
  ]
  const pool = [...corpus, ...whole]
  const drawn = (): Input => pool[draw.below(pool.length)] ?? { writes: [PROBE] }
  const odd = Array.from({ length: Math.max(0, count - whole.length) }, () => mutated(drawn(), drawn(), draw))
  return [...corpus.map(({ writes }) => ({ writes })), ...whole, ...odd]
}

/** Looks at what a server has logged since the last look, and whether it takes a good request. */
const lookAt = (target: Target) => {
  let seen = 0
  const secrets = [...SECRETS, ...target.keys.values()]
  return async (): Promise<ReadonlyArray<string>> => {
    const { stderr } = target.server.output
    const end = stderr.lastIndexOf("\n") + 1
    const faults = faultsOfLines(stderr.slice(seen, end).split("\n").slice(0, -1), secrets)
    seen = end
    return (await target.isSound()) ? faults : [...faults, "a good heartbeat is refused"]
  }
}

/** Sends the inputs of a seed to two new servers, until a fault is found. */
export const runRound = Effect.fnUntraced(function* (options: RoundOptions) {
  const targets = [yield* startTarget, yield* startTarget] as const
  const [front, api] = targets
  const inputs = inputsOf(options, front)
  const looks = targets.map(lookAt)
  const known = new Set(options.corpus.flatMap(({ shows }) => shows))
  const found: Array<Kept> = []
  let sent = 0
  const faultsAfter = async (input: Input): Promise<ReadonlyArray<string>> => {
    const [received, byApi] = await send(input, targets)
    if (received === undefined || byApi === undefined) return []
    sent += 1
    const shows = Array.from(new Set(featuresOf(received))).filter((feature) => !known.has(feature))
    for (const feature of shows) known.add(feature)
    if (shows.length > 0) found.push({ shows, writes: input.writes })
    const isLookedAt = sent % BETWEEN_LOOKS === 0 || sent === inputs.length
    return [
      ...faultsOf(input, received, front),
      ...faultsOf(input, byApi, api),
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
