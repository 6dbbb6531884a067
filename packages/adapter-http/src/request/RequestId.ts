import { Context } from "effect"

/** The id of the current request, in the header X-Request-Id and in error bodies. */
export const RequestId = Context.Reference<string>("@tocsin/adapter-http/request/RequestId", {
  defaultValue: () => "",
})

const INBOUND = /^[A-Za-z0-9._:-]{1,128}$/

/** The id that a client gave its request, if it is well-formed (docs/rules.md#request-ids). */
export const inboundRequestId = (header: string | undefined): string | undefined =>
  header !== undefined && INBOUND.test(header) ? header : undefined
