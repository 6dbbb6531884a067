import { Context, Effect, Layer } from "effect"
import { type CheckAvailability, hasOnlyWarned } from "@tocsin/contract/availability/Availability"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Report, ReportParameters } from "@tocsin/contract/report/Report"
import { inPieces, percentOf, phasesOf, type Span, sumPhases } from "../../heart/availability/availability.ts"
import { checksOf, MOST_CHANGES, spanOf } from "../../heart/availability/readAvailability.ts"
import {
  type CheckWithFacts,
  noFacts,
  READ_TOGETHER,
  readFacts,
  windowsIn,
} from "../../heart/availability/readFacts.ts"
import { titleOf } from "../../heart/model/titles.ts"
import { type OperationPorts, operationPorts } from "../../heart/usecases/operationPorts.ts"
import { MOST_ROWS, readIncidents } from "./reportedIncidents.ts"

/** Checks that are read together: between two pages, requests are answered. */
const PAGE = 200
const WORST = 10

type Judged = Report["worst"][number]
type LateSpan = Report["late"][number]

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const byName = (a: Judged | LateSpan, b: Judged | LateSpan): number =>
  compareText(a.agent_id, b.agent_id) || compareText(a.check_id, b.check_id)

/** The time that counts, and how much of it was ok. */
const judgedTime = ({ seconds: { no_data: _, planned: __, ...judged } }: Judged) => ({
  ok: judged.ok,
  all: Object.values(judged).reduce((sum, seconds) => sum + seconds, 0),
})

/** The part of which `percent` is cut. */
const okPart = (check: Judged): number => {
  const { all, ok } = judgedTime(check)
  return ok / all
}

/** The sums of a group. */
interface Summed {
  checks: number
  ok: number
  judged: number
  /** Whether one of its checks only warned, and whether one was worse. */
  warned: boolean
  worse: boolean
}

/** Folds checks one after another into the parts of a report; keeps no more of them than it shows. */
export class ReportFold {
  readonly #label: string | undefined
  readonly #groups = new Map<string | null, Summed>()
  #worst: ReadonlyArray<Judged> = []
  #late: ReadonlyArray<LateSpan> = []
  #lateCount = 0

  constructor(label: string | undefined) {
    this.#label = label
  }

  add(
    check: Judged,
    labels: Readonly<Record<string, string>> | undefined,
    late: ReadonlyArray<LateSpan>,
  ): void {
    const { all, ok } = judgedTime(check)
    const value = this.#label === undefined ? undefined : labels?.[this.#label]
    const group = this.#groups.get(value ?? null) ?? {
      checks: 0,
      ok: 0,
      judged: 0,
      warned: false,
      worse: false,
    }
    this.#groups.set(value ?? null, group)
    group.checks += 1
    group.ok += ok
    group.judged += all
    if (hasOnlyWarned(check.seconds)) group.warned = true
    else if (all > ok) group.worse = true
    if (check.percent !== null)
      this.#worst = [...this.#worst, check]
        .toSorted((a, b) => okPart(a) - okPart(b) || byName(a, b))
        .slice(0, WORST)
    this.#lateCount += late.length
    if (late.length > 0)
      this.#late = [...this.#late, ...late]
        .toSorted((a, b) => (a.from < b.from ? 1 : a.from > b.from ? -1 : byName(a, b)))
        .slice(0, MOST_ROWS)
  }

  get parts(): Pick<Report, "groups" | "worst" | "late"> & { readonly lateLeftOut: number } {
    const groups = Array.from(this.#groups, ([group, { checks, judged, ok, warned, worse }]) => ({
      group,
      checks,
      percent: percentOf(ok, judged),
      ...(warned && !worse && { warned }),
    })).toSorted((a, b) => (a.group === null ? 1 : b.group === null ? -1 : compareText(a.group, b.group)))
    return { groups, worst: this.#worst, late: this.#late, lateLeftOut: this.#lateCount - this.#late.length }
  }
}

const lateOf = (
  name: Pick<Judged, "agent_id" | "check_id" | "title">,
  phases: NonNullable<CheckAvailability["phases"]>,
  { to }: Pick<Span, "to">,
): ReadonlyArray<LateSpan> =>
  phases.flatMap(({ from, state }, place) =>
    state === "late" ? [{ ...name, from, to: phases[place + 1]?.from ?? to }] : [],
  )

/** Operators' reports of a span (docs/rules.md#reports). */
export const reportOperations = ({
  commits,
  policy,
  sha256,
  storage,
}: Pick<OperationPorts, "commits" | "policy" | "sha256" | "storage">) => ({
  /** How checks were during a span: by groups, the worst, the incidents, and what was late. */
  report: Effect.fn("Operations.report")(function* ({ from, group, match = [], to }: ReportParameters) {
    const now = yield* Instant.now
    const span = yield* spanOf({ from, to }, now)
    const windows = yield* windowsIn(policy.current(), span)
    const known = noFacts()
    const fold = new ReportFold(group)
    const add = Effect.fnUntraced(function* (item: CheckWithFacts) {
      const { agent_id, check_id } = item
      const facts = yield* readFacts(storage, sha256, item, span, windows, { known, room: MOST_CHANGES })
      if (facts.changes.length > MOST_CHANGES) {
        const message = `the check ${agent_id}/${check_id} changed more than ${MOST_CHANGES} times: choose a later from`
        return yield* new ValidationError({ message })
      }
      const phases = yield* inPieces(phasesOf(facts, span))
      const name = { agent_id, check_id, title: titleOf(item.labels) ?? null }
      const { to: end, ...sums } = sumPhases(phases, span)
      const { percent, seconds } = sums
      fold.add({ ...name, percent, seconds }, item.facts.labels, lateOf(name, phases, { to: end }))
    })
    let cursor: string | null | undefined
    do {
      const page = yield* checksOf(
        storage,
        sha256,
        { checks: undefined, match },
        { cursor: cursor ?? undefined, limit: PAGE },
      )
      yield* Effect.forEach(page.items, add, { concurrency: READ_TOGETHER, discard: true })
      cursor = page.next_cursor
      yield* Effect.yieldNow
    } while (cursor !== null)
    const { incidents, leftOut } = yield* readIncidents({ commits, storage }, span, match, now)
    const { lateLeftOut, ...parts } = fold.parts
    return {
      ...parts,
      incidents,
      ...(leftOut + lateLeftOut > 0 && { left_out: { incidents: leftOut, late: lateLeftOut } }),
    }
  }),
})

/** Operators' reports (docs/rules.md#reports). */
export class Reports extends Context.Service<Reports>()("@tocsin/core/features/report/readReport", {
  make: Effect.map(operationPorts, reportOperations),
}) {
  static readonly layer = Layer.effect(Reports, Reports.make)
}
