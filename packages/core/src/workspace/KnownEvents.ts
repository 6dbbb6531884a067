import type { EventId, RegistrationId } from "../contract/Identifiers.ts"

/** Which event ids are known to be in the stored history, or known not to be, per registration of an agent. */
export class KnownEvents {
  #known: Map<RegistrationId, Map<EventId, boolean>> | undefined

  /** Tells that these were looked up, and which of them the history holds. */
  load(registrationId: RegistrationId, asked: ReadonlyArray<EventId>, found: ReadonlySet<EventId>): void {
    const known = this.#of(registrationId)
    for (const eventId of asked) {
      if (!known.has(eventId)) known.set(eventId, found.has(eventId))
    }
  }

  /** Whether the answer is known. */
  isLoaded(registrationId: RegistrationId, eventId: EventId): boolean {
    return this.#known?.get(registrationId)?.has(eventId) ?? false
  }

  /** Notes a row that this transaction stores. */
  add(registrationId: RegistrationId, eventId: EventId): void {
    this.#of(registrationId).set(eventId, true)
  }

  /** Whether the history holds the event. Throws where the decision did not ask for it first. */
  has(registrationId: RegistrationId, eventId: EventId): boolean {
    const known = this.#known?.get(registrationId)?.get(eventId)
    if (known === undefined)
      throw new Error(`event ${eventId} was decided on without a look into the history`)
    return known
  }

  #of(registrationId: RegistrationId): Map<EventId, boolean> {
    this.#known ??= new Map()
    const known = this.#known.get(registrationId)
    if (known !== undefined) return known
    const created = new Map<EventId, boolean>()
    this.#known.set(registrationId, created)
    return created
  }
}
