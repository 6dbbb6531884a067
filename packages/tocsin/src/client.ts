/** A typed client of a Tocsin elsewhere, for browsers and Node. `tocsin/effect` has it as effects. */
export * from "@tocsin/client"
