import type { EventId, RegistrationId } from "../contract/Identifiers.ts"

/** Which event ids are known to be in the stored history, or known not to be, per registration of an agent. */
export class KnownEvents {
  readonly #known = new Map<string, boolean>()

  /** Tells that these were looked up, and which of them the history holds. */
  load(registrationId: RegistrationId, asked: ReadonlyArray<EventId>, found: ReadonlySet<EventId>): void {
    for (const eventId of asked) {
      const key = `${registrationId}/${eventId}`
      if (!this.#known.has(key)) this.#known.set(key, found.has(eventId))
    }
  }

  /** Whether the answer is known. */
  isLoaded(registrationId: RegistrationId, eventId: EventId): boolean {
    return this.#known.has(`${registrationId}/${eventId}`)
  }

  /** Notes a row that this transaction stores. */
  add(registrationId: RegistrationId, eventId: EventId): void {
    this.#known.set(`${registrationId}/${eventId}`, true)
  }

  /** Whether the history holds the event. Throws where the decision did not ask for it first. */
  has(registrationId: RegistrationId, eventId: EventId): boolean {
    const known = this.#known.get(`${registrationId}/${eventId}`)
    if (known === undefined)
      throw new Error(`event ${eventId} was decided on without a look into the history`)
    return known
  }
}
