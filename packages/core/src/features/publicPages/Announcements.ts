import { Context, Effect, Layer } from "effect"
import type { AnnouncementRequest, AnnouncementId } from "@tocsin/contract/publicPages/Announcements"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import * as Instant from "@tocsin/contract/formats/Instant"
import { includesRole } from "@tocsin/contract/operators/Operators"
import { linesOf } from "@tocsin/contract/publicPages/PublicPages"
import {
  createAnnouncement,
  endAnnouncement,
  MAX_CHARACTERS,
  MAX_UPDATES,
  updateAnnouncement,
} from "./announcementDecisions.ts"
import { operationPorts } from "../../heart/usecases/operationPorts.ts"
import { CurrentOperator } from "../../kernel/ports/CurrentOperator.ts"
import { newId } from "../../kernel/ports/Ids.ts"
import { listReaders } from "../../kernel/engine/lists/listReaders.ts"
import { readRow } from "../../kernel/unitOfWork/Decision.ts"
import { NotFound, NotPermitted, refusalError, StateConflict } from "../../kernel/engine/OperationErrors.ts"
import { toAnnouncement } from "./AnnouncementRecord.ts"

const noSuchAnnouncement = () =>
  new NotFound({ message: "no announcement has this id; list announcements with GET /ops/v1/announcements" })

const UPDATE_REFUSED = {
  ended: "the announcement has ended; create another one",
  full: `the announcement would have more than ${MAX_UPDATES} updates, or ${MAX_CHARACTERS} characters with them; end it, and create another one`,
}

const listed = (names: ReadonlyArray<string>): string => (names.length === 0 ? "none" : names.join(", "))

/** Operators' actions on announcements (docs/rules.md#announcements). */
const announcing = Effect.gen(function* () {
  const { commits, ids, policy, sha256, signed, storage } = yield* operationPorts
  const newAnnouncementId = newId<AnnouncementId>(ids)

  const pages = () => new Map(Object.entries(policy.current().document.pages ?? {}))

  const checkRole = Effect.fnUntraced(function* (page: string) {
    const needed = pages().get(page)?.announce ?? "admin"
    if (includesRole((yield* CurrentOperator).role, needed)) return
    return yield* new NotPermitted({
      message: `on the page ${page}, only admins announce; ask one, or have announce: respond set in the policy`,
    })
  })

  const checkLines = Effect.fnUntraced(function* ({ lines = [], page }: AnnouncementRequest) {
    const known = pages()
    const named = known.get(page)
    if (named === undefined)
      return yield* new ValidationError({
        message: `page must be a page of the policy (${listed(Array.from(known.keys()))}), got ${page}`,
      })
    const all = linesOf(named).map(({ id }) => id)
    const unknown = lines.filter((line) => !all.includes(line))
    if (unknown.length > 0)
      return yield* new ValidationError({
        message: `lines must be lines of the page ${page} (${listed(all)}), got ${listed(unknown)}`,
      })
  })

  /** Fails for an announcement that does not exist, or that the operator may not change. */
  const checkAnnouncement = Effect.fnUntraced(function* (id: AnnouncementId) {
    const announcement = yield* commits.transact(readRow("announcement", id))
    return yield* announcement === undefined ? noSuchAnnouncement() : checkRole(announcement.page)
  })

  return {
    announcements: listReaders(storage, sha256).planned("announcements", toAnnouncement),
    announce: Effect.fn("Operations.announce")(function* (request: AnnouncementRequest) {
      yield* checkLines(request)
      yield* checkRole(request.page)
      const { ends_at, lines = [], starts_at, ...given } = request
      const id = newAnnouncementId(yield* Instant.now)
      const created = yield* signed((by) =>
        createAnnouncement({ ...given, id, lines, starts_at, ends_at }, by),
      )
      const announcement = yield* Effect.mapError(Effect.fromResult(created), refusalError)
      return toAnnouncement(announcement, yield* Instant.now)
    }),
    updateAnnouncement: Effect.fn("Operations.updateAnnouncement")(function* (
      id: AnnouncementId,
      text: string,
    ) {
      yield* checkAnnouncement(id)
      const updated = yield* signed((by) => updateAnnouncement(id, text, by))
      if (updated === "unknown") return yield* noSuchAnnouncement()
      if (typeof updated === "string") return yield* new StateConflict({ message: UPDATE_REFUSED[updated] })
      return toAnnouncement(updated, yield* Instant.now)
    }),
    endAnnouncement: Effect.fn("Operations.endAnnouncement")(function* (id: AnnouncementId) {
      yield* checkAnnouncement(id)
      return { count: yield* signed((by) => endAnnouncement(id, by)) }
    }),
  }
})

/** Operators' actions on announcements, and their list (docs/rules.md#announcements). */
export class Announcements extends Context.Service<Announcements>()(
  "@tocsin/core/features/publicPages/Announcements",
  { make: announcing },
) {
  static readonly layer = Layer.effect(Announcements, Announcements.make)
}
