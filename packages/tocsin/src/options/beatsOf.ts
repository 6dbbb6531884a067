import * as HttpBeatReceiver from "@tocsin/adapter-notify/beat/HttpBeatReceiver"
import { parseTarget } from "@tocsin/adapter-notify/http/Target"
import { Duration, Redacted, Result } from "effect"
import type { BeatOptions } from "../layers/Tocsin.ts"
import type { MonitorOptions } from "./MonitorOptions.ts"
import type { Problems } from "./Problems.ts"

const INTERVAL = Duration.minutes(1)

/** The beats of options; notes what is wrong with them, and no part of the address. */
export const beatsOf = (options: Partial<MonitorOptions>, problems: Problems): BeatOptions | undefined => {
  if (options.beat === undefined) return undefined
  const beat = problems.group("beat", options.beat, { url: true, interval: true })
  const interval = problems.duration("beat.interval", beat.interval) ?? INTERVAL
  const denyPrivateTargets = options.denyPrivateTargets === true
  const target = parseTarget(Redacted.make(String(beat.url)), { denyPrivateTargets })
  if (Result.isFailure(target)) {
    problems.add(`beat.url ${target.failure}`)
    return undefined
  }
  return { interval, receiver: HttpBeatReceiver.layer({ target: target.success, denyPrivateTargets }) }
}
