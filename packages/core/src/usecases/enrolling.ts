import { Duration, Effect, Redacted } from "effect"
import type {
  CreateEnrolmentRequest,
  Enrolment,
  EnrolmentId,
  EnrolmentWithToken,
} from "@tocsin/contract/Enrolments"
import type { ValidationError } from "@tocsin/contract/Errors"
import * as Instant from "@tocsin/contract/Instant"
import type { ActionCountResponse } from "@tocsin/contract/Responses"
import * as decisions from "../admission/enrolments.ts"
import { enrolmentIdOf, enrolmentToken } from "../admission/enrolmentToken.ts"
import { currentSignature } from "../audit/Signature.ts"
import type { Commits } from "../engine/commits/Commits.ts"
import { type Page, type PageParameters, readPage } from "../engine/lists/readPage.ts"
import { type EnrolmentRecord, enrolmentState } from "../model/EnrolmentRecord.ts"
import type { Hashing } from "../ports/Hashing.ts"
import type { Ids } from "../ports/Ids.ts"
import type { Storage, StorageError } from "../ports/Storage.ts"

const USUAL_TIME = Duration.hours(1)

/** Operators' decisions about enrolments (docs/rules.md#enrolment). */
export interface EnrolmentCalls {
  /** Enrolments, the newest first. */
  readonly list: (
    parameters: PageParameters,
  ) => Effect.Effect<Page<Enrolment>, ValidationError | StorageError>
  /** Creates an enrolment, and returns its token this once. */
  readonly create: (request: CreateEnrolmentRequest) => Effect.Effect<EnrolmentWithToken, StorageError>
  /** Deletes an enrolment; count 0 if there is none of this ID. */
  readonly remove: (id: EnrolmentId) => Effect.Effect<ActionCountResponse, StorageError>
}

const toEnrolment = (record: EnrolmentRecord, now: Instant.Instant): Enrolment => ({
  ...record,
  agent_id: record.agent_id ?? null,
  state: enrolmentState(record, now),
})

interface Parts {
  readonly storage: Storage["Service"]
  readonly commits: Pick<Commits["Service"], "transact">
  readonly hashing: Hashing["Service"]
  readonly ids: Ids["Service"]
}

/** Makes the calls of operators about enrolments. */
export const enrolmentCalls = ({ commits, hashing, ids, storage }: Parts): EnrolmentCalls => {
  const signature = currentSignature(ids)
  return {
    list: Effect.fnUntraced(function* (parameters) {
      const query = { list: "enrolments", filter: {}, sort: "created_at", direction: "desc" } as const
      const page = yield* readPage(storage, hashing.sha256, query, parameters)
      const now = yield* Instant.now
      return { ...page, items: page.items.map((record) => toEnrolment(record, now)) }
    }),
    create: Effect.fn("Admission.createEnrolment")(function* ({
      agent_id,
      expires_in = USUAL_TIME,
      uses = 1,
    }) {
      const token = enrolmentToken(yield* Effect.sync(ids.secret))
      const now = yield* Instant.now
      const created = yield* commits.transact(
        decisions.createEnrolment(
          { id: enrolmentIdOf(hashing, token), agent_id, uses, expires_at: Instant.plus(now, expires_in) },
          yield* signature,
        ),
      )
      return { ...toEnrolment(created, now), token: Redacted.value(token) }
    }),
    remove: Effect.fn("Admission.removeEnrolment")(function* (id) {
      return { count: yield* commits.transact(decisions.removeEnrolment(id, yield* signature)) }
    }),
  }
}
