import { Context } from "effect"

/** Names the request that is being answered: the header X-Request-Id of its response, and part of error bodies. */
export const RequestId = Context.Reference<string>("@tocsin/adapter-http/request/RequestId", {
  defaultValue: () => "",
})

const INBOUND = /^[A-Za-z0-9._:-]{1,128}$/

/** The id that a client gave its request, unless it is none that can be shown everywhere (docs/rules.md#request-ids). */
export const inboundRequestId = (header: string | undefined): string | undefined =>
  header !== undefined && INBOUND.test(header) ? header : undefined
