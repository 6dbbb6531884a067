import type { Duration } from "effect"
import type { ErrorCode } from "@tocsin/contract/formats/Errors"
import type { CheckId } from "@tocsin/contract/formats/Identifiers"
import type { IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import type { SenderRequest, Translate, TranslationContext } from "./Report.ts"

/** How senders of a kind make their requests, and how they are answered. */
export interface Protocol {
  readonly methods: ReadonlyArray<"GET" | "POST" | "PUT" | "PATCH" | "DELETE">
  /**
   * How much of a body of at most 1 MiB is kept: the end of any text, or all of it. A form joins the query; an
   * envelope may be compressed, and XML be of any encoding that has ASCII.
   */
  readonly body: "end" | "whole" | "form" | "envelope" | "xml"
  /** Whether the header Authorization may have the key, instead of the path. */
  readonly hasHeader: boolean
  /** Finds the key in a query and a body, of which it gets the first 512 KiB. A key in the path counts alone. */
  readonly keyOf?: (request: Pick<SenderRequest, "body" | "query">) => string | undefined
  readonly contentType: string | ((request: SenderRequest) => string)
  readonly fields?: Readonly<Record<string, string>>
  /** Statuses of failures that differ from those of the API. */
  readonly statuses?: Partial<Record<ErrorCode, number>>
  /** Its text about a failure, or about none and what was ignored. The request is what was read of it. */
  readonly say: (failure: Failed | undefined, ignored: string, request: SenderRequest) => string
}

export interface Failed {
  readonly code: ErrorCode
  readonly message: string
}

/** A kind of integration: how its senders' requests are read and answered, and what they may do. */
export interface Kind {
  readonly protocol: Protocol
  readonly translate: Translate
  /** Whether requests have limits of rate. Senders of the others drop what is refused. */
  readonly isLimited: boolean
  /** Whether a check may exist that has begun and never reported. */
  readonly hasRuns: boolean
  readonly mostChecks: number
  /** Whether its senders repeat what a full integration refuses only if they shall try later. */
  readonly isRefusedForNow?: true
  /** Whether a check that is ok stays while something expects it, however long it was not reported. */
  readonly keepsExpected?: true
  /** Recognises the check of an alert, where the path of a request names it by an ID that the kind made of the check. */
  readonly alertNamed?: (
    request: SenderRequest,
    context: Pick<TranslationContext, "name" | "sha256">,
  ) => ((check_id: CheckId) => boolean) | undefined
  /** Whether the option `severity` has its form, where it is not that of alerts. */
  readonly isSeverity?: (given: NonNullable<IntegrationOptions["severity"]>) => boolean
  /** The options that it has, beyond those of all kinds. */
  readonly options: ReadonlyArray<keyof IntegrationOptions>
  /** Whether it has its own options alone, and `max_checks`. */
  readonly hasOwnOptionsAlone?: boolean
  /** Says why options that are right one by one are wrong together. */
  readonly problemOf?: (options: IntegrationOptions, staleAfter: Duration.Duration) => string | undefined
  /** The addresses to paste, below `/in/KIND`, for a key. */
  readonly paths: (key: string, options: IntegrationOptions) => ReadonlyArray<string>
  /** The addresses of mail for a key at a domain, in place of paths. */
  readonly addresses?: (key: string, domain: string) => ReadonlyArray<string>
}

/** Kinds whose senders report many checks, each as often as it changes. */
export const OF_MANY_CHECKS = {
  isLimited: false,
  hasRuns: false,
  mostChecks: 10_000,
  paths: (key: string) => ["", `/${key}`],
} as const

/** Senders of any text: it is the output of a job. */
export const ANY_TEXT = { body: "end", hasHeader: false } as const

/** Senders of JSON: they log the status, and at most the text. */
export const JSON_TEXT: Protocol = {
  methods: ["POST"],
  body: "whole",
  hasHeader: true,
  contentType: "text/plain",
  say: (failure) => failure?.message ?? "",
}
