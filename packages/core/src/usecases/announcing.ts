import { Effect } from "effect"
import type { AnnouncementRequest } from "@tocsin/contract/Announcements"
import { ValidationError } from "@tocsin/contract/Errors"
import type { AnnouncementId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import { includesRole } from "@tocsin/contract/Operators"
import { linesOf } from "@tocsin/contract/PublicPages"
import {
  createAnnouncement,
  endAnnouncement,
  MAX_CHARACTERS,
  MAX_UPDATES,
  updateAnnouncement,
} from "../announcements/announcementDecisions.ts"
import type { signing } from "../audit/Signature.ts"
import type { Commits } from "../engine/commits/Commits.ts"
import type { PolicyInForce } from "../policy/PolicyInForce.ts"
import { CurrentOperator } from "../ports/CurrentOperator.ts"
import { type Ids, newId } from "../ports/Ids.ts"
import { readRow } from "../unitOfWork/load.ts"
import { noSuch, NotPermitted, refusalError, StateConflict } from "./OperationErrors.ts"
import { toAnnouncement } from "./toResources.ts"

interface AnnouncingPorts {
  readonly commits: Commits["Service"]
  readonly ids: Ids["Service"]
  readonly policy: PolicyInForce["Service"]
  readonly signed: ReturnType<typeof signing>
}

const UPDATE_REFUSED = {
  ended: "the announcement has ended; create another one",
  full: `the announcement would have more than ${MAX_UPDATES} updates, or ${MAX_CHARACTERS} characters with them; end it, and create another one`,
}

const listed = (names: ReadonlyArray<string>): string => (names.length === 0 ? "none" : names.join(", "))

/** Operators' actions on announcements (docs/rules.md#announcements). */
export const announcing = ({ commits, ids, policy, signed }: AnnouncingPorts) => {
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
    return yield* announcement === undefined ? noSuch("announcement") : checkRole(announcement.page)
  })

  return {
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
      if (updated === "unknown") return yield* noSuch("announcement")
      if (typeof updated === "string") return yield* new StateConflict({ message: UPDATE_REFUSED[updated] })
      return toAnnouncement(updated, yield* Instant.now)
    }),
    endAnnouncement: Effect.fn("Operations.endAnnouncement")(function* (id: AnnouncementId) {
      yield* checkAnnouncement(id)
      return { count: yield* signed((by) => endAnnouncement(id, by)) }
    }),
  }
}
