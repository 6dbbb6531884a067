/** A typed client of a Tocsin elsewhere, as promises and for Effect, for browsers and Node. */
export * from "@tocsin/client"
