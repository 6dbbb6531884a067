import type { CheckRef } from "../model/CheckRef.ts"
import type { CheckId, EventId, RegistrationId } from "@tocsin/contract/formats/Identifiers"

/** Event IDs known to be in the stored history, with their checks, or known to be absent. */
export class KnownEvents {
  #known: Map<RegistrationId, Map<EventId, CheckId | undefined>> | undefined
  #removed: Array<CheckRef> | undefined

  load(
    registrationId: RegistrationId,
    asked: ReadonlyArray<EventId>,
    found: ReadonlyMap<EventId, CheckId>,
  ): void {
    const known = this.#of(registrationId)
    for (const eventId of asked) {
      if (known.has(eventId)) continue
      const checkId = found.get(eventId)
      // The storage removes the history of a removed check only at the end of the transaction.
      const isGone = checkId === undefined || this.#isRemoved(registrationId, checkId)
      known.set(eventId, isGone ? undefined : checkId)
    }
  }

  isLoaded(registrationId: RegistrationId, eventId: EventId): boolean {
    return this.#known?.get(registrationId)?.has(eventId) ?? false
  }

  add(registrationId: RegistrationId, eventId: EventId, checkId: CheckId): void {
    this.#of(registrationId).set(eventId, checkId)
  }

  removeCheck({ agent_id, check_id, registration_id }: CheckRef): void {
    ;(this.#removed ??= []).push({ agent_id, check_id, registration_id })
    const known = this.#of(registration_id)
    for (const [eventId, checkId] of known) if (checkId === check_id) known.set(eventId, undefined)
  }

  /** Whether the history has the event. Throws if the decision did not look it up first. */
  has(registrationId: RegistrationId, eventId: EventId): boolean {
    if (!this.isLoaded(registrationId, eventId))
      throw new Error(`event ${eventId} was decided on without a look into the history`)
    return this.#known?.get(registrationId)?.get(eventId) !== undefined
  }

  #isRemoved(registrationId: RegistrationId, checkId: CheckId): boolean {
    return (
      this.#removed?.some(
        ({ check_id, registration_id }) => check_id === checkId && registration_id === registrationId,
      ) ?? false
    )
  }

  #of(registrationId: RegistrationId): Map<EventId, CheckId | undefined> {
    this.#known ??= new Map()
    const known = this.#known.get(registrationId)
    if (known !== undefined) return known
    const created = new Map<EventId, CheckId | undefined>()
    this.#known.set(registrationId, created)
    return created
  }
}
