import process from "node:process"
import * as Instant from "@tocsin/contract/formats/Instant"
import { zonesInUse } from "@tocsin/contract/formats/zoneClocks"
import { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import { ALL_AGENTS, eachPage } from "@tocsin/core/kernel/engine/lists/readPage"
import type { AgentRecord } from "@tocsin/core/heart/model/AgentRecord"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { commandOf, load } from "@tocsin/core/kernel/unitOfWork/Decision"
import { Effect } from "effect"
import { type ComparedZones, compareZones } from "../../zones/hostZones.ts"
import { attention, type Finding, ok } from "./Finding.ts"

/** The zones by which checks of these agents must report. */
const zonesOf = commandOf(function* (unit, agents: ReadonlyArray<AgentRecord>) {
  yield* load(unit, { groups: { expectation: agents } })
  const expected = agents.flatMap(({ registration_id }) => unit.expectations.group(registration_id))
  return new Set(expected.flatMap(({ terms: { tz } }) => tz ?? []))
})

const CHECK = "time zones"
/** Data of an earlier year than the last one is old: countries change their clocks several times a year. */
const OLDEST_YEARS = 1

const UPDATE_NODE = "upgrade Node.js, or set ICU_TIMEZONE_FILES_DIR to a folder with newer files of ICU"
const UPDATE_HOST = "upgrade tzdata on this machine: its crons go by older zones than Tocsin"
const MOST_NAMED = 3

/** The version, the age and the correctness of the time zones (docs/policy.md#time-zones). */
export const zoneFinding = (
  { differing, hostVersion, version = "none" }: ComparedZones,
  now: Instant.Instant,
): Finding => {
  const given = `${version} of Node.js ${process.versions.node}`
  if (differing.length > 0) {
    const zones = differing.slice(0, MOST_NAMED).map(({ from, minutes, name }) => {
      const side = minutes > 0 ? "ahead" : "behind"
      return `${name} is ${Math.abs(minutes)} min ${side} from ${new Date(from).toISOString().slice(0, 10)} on`
    })
    const more = differing.length > MOST_NAMED ? ` and ${differing.length - MOST_NAMED} more` : ""
    const host = `${hostVersion ?? "the zones"} of this machine`
    const advice = hostVersion !== undefined && hostVersion < version ? UPDATE_HOST : UPDATE_NODE
    return attention(CHECK, `${given} differ from ${host}: ${zones.join(", ")}${more}; ${advice}`)
  }
  const years = Number(Instant.format(now).slice(0, 4)) - Number.parseInt(version, 10)
  if (years > OLDEST_YEARS) return attention(CHECK, `${given} are ${years} years old: ${UPDATE_NODE}`)
  return ok(
    CHECK,
    hostVersion === undefined
      ? given
      : `${given}, where they are in use equal to ${hostVersion} of this machine`,
  )
}

/** Compares the zones of the policy and of all checks that must report with those of this machine. */
export const examineZones = Effect.gen(function* () {
  const [commits, storage, now] = [yield* Commits, yield* Storage, yield* Instant.now]
  const declared = new Set<string>()
  yield* eachPage(storage, ALL_AGENTS, (agents) =>
    Effect.map(commits.transact(zonesOf(agents)), (found) => {
      for (const zone of found) declared.add(zone)
    }),
  )
  return [zoneFinding(compareZones(new Set([...zonesInUse(), ...declared]), Number(now / 1_000n)), now)]
})
