import { IncomingMessage } from "node:http"
import { gunzipSync } from "node:zlib"
import { overfullBody, overfullSenderBody } from "@tocsin/contract/v1/decodeRequest"
import { describeIssue } from "@tocsin/contract/formats/describeIssue"
import { ByteSize, Effect, Result, type Schema, SchemaParser, Semaphore, Stream } from "effect"
import { HttpIncomingMessage, type HttpServerRequest } from "effect/http"
import type { PayloadTooLarge, Validation } from "@tocsin/contract/api/ApiErrors"
import { fail } from "../response/failures.ts"

type Request = HttpServerRequest.HttpServerRequest
type OnRead = (bytes: number) => void

/** The largest body that is accepted, in bytes (docs/rules.md#bodies). */
export const MAX_BODY_BYTES = 1_048_576

/** The length of a body by its headers; in chunks, the largest. */
export const announcedBytes = ({
  headers,
}: {
  readonly headers: IncomingMessage["headers"] | Request["headers"]
}): number => Number(headers["content-length"] ?? MAX_BODY_BYTES)

const ENCODED = "the request body must not have a Content-Encoding; send it uncompressed"
const CODED = "the request body must not have a Transfer-Encoding other than chunked"
const NOT_UTF8 = "the request body must be valid UTF-8"
const NOT_JSON = "the request body must be valid JSON"

const invalid = (message: string) => fail({ code: "validation", message })

const cutShort = invalid("the request body ended early; send it again")

const tooLargeFor = (most: number) => {
  const size = most === MAX_BODY_BYTES ? `1 MiB (${most} bytes)` : `${most} bytes`
  return fail({ code: "payload_too_large", message: `the request body must not be larger than ${size}` })
}
const tooLarge = tooLargeFor(MAX_BODY_BYTES)

const hasBody = ({ headers }: Request): boolean =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0"

const joined = (parts: ReadonlyArray<Uint8Array>): Uint8Array =>
  parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)

/** Reads from Node directly, which is the cheapest way. */
const readFromNode = (source: IncomingMessage, onRead: OnRead, most: number) =>
  Effect.callback<Uint8Array, PayloadTooLarge | Validation>((resume) => {
    const parts: Array<Buffer> = []
    let size = 0
    const onData = (part: Buffer) => {
      size += part.length
      onRead(part.length)
      if (size <= most) return void parts.push(part)
      source.off("data", onData)
      source.pause()
      resume(tooLargeFor(most))
    }
    source.on("data", onData)
    source.on("end", () => resume(Effect.succeed(joined(parts))))
    source.on("error", () => resume(cutShort))
    source.on("close", () => resume(cutShort))
  })

const readFromAnywhere = (request: Request, onRead: OnRead, most: number) =>
  request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe(most)),
    Effect.tapError(() => Effect.sync(() => onRead(most))),
    Effect.catch(({ reason }): Effect.Effect<never, PayloadTooLarge | Validation> =>
      reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge" ? tooLargeFor(most) : cutShort,
    ),
    Effect.map((buffer) => {
      onRead(buffer.byteLength)
      return new Uint8Array(buffer)
    }),
  )

/** Reads a body, and refuses a larger one than `most` as soon as it exceeds that. */
const read = (
  request: Request,
  onRead: OnRead = () => {},
  most = MAX_BODY_BYTES,
): Effect.Effect<Uint8Array, PayloadTooLarge | Validation> => {
  const { source, headers } = request
  if (Number(headers["content-length"]) > most) return tooLargeFor(most)
  // A client that expects 100 Continue gets it from the platform only.
  return source instanceof IncomingMessage && headers["expect"] === undefined
    ? readFromNode(source, onRead, most)
    : readFromAnywhere(request, onRead, most)
}

/** Reads an ignored body, to enforce the size limit. */
export const readIgnored = (request: Request): Effect.Effect<void, PayloadTooLarge> =>
  hasBody(request)
    ? Effect.catchTag(Effect.asVoid(read(request)), "Validation", () => Effect.void)
    : Effect.void

const decoder = new TextDecoder("utf-8", { fatal: true })

/**
 * Parses a body as JSON, whatever its Content-Type (docs/rules.md#bodies); fails with the
 * message for the client. Ignores a byte order mark.
 */
export const parseJson = (bytes: Uint8Array, contentEncoding?: string): Result.Result<unknown, string> => {
  const overfull = overfullBody(bytes)
  if (overfull !== undefined && isPlain(contentEncoding)) return Result.fail(overfull)
  return Result.flatMap(decodeText(bytes, contentEncoding), (text) =>
    Result.try({ try: () => JSON.parse(text) as unknown, catch: () => NOT_JSON }),
  )
}

const isPlain = (contentEncoding = "identity"): boolean => contentEncoding.toLowerCase() === "identity"

const isChunked = (transferEncoding = "chunked"): boolean => transferEncoding.toLowerCase() === "chunked"

const decodeText = (bytes: Uint8Array, contentEncoding?: string): Result.Result<string, string> =>
  isPlain(contentEncoding)
    ? Result.try({ try: () => decoder.decode(bytes), catch: () => NOT_UTF8 })
    : Result.fail(ENCODED)

/** Larger bodies take milliseconds to parse and check. */
const LARGE_BYTES = 65_536

const largeBodies = Semaphore.makeUnsafe(1)
const nextTurn = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

/** One large body a turn of the event loop: those that arrive together would otherwise block all other requests. */
const turnOf = (body: { readonly length: number }) =>
  body.length > LARGE_BYTES ? largeBodies.withPermit(nextTurn) : Effect.void

/** As much of a body is read before its sender is known. */
export const MOST_UNNAMED_BYTES = 524_288

interface Naming<A, E, R> {
  readonly parse: ParseText
  readonly onRead: OnRead
  readonly recognise: (start: string) => Effect.Effect<A, E, R>
}

/**
 * Reads a body that has its sender's key inside. `recognise` gets the text of the first 512 KiB, or of all if that is
 * less; more is read only of a sender whom it recognises.
 */
export const readNamed = <A, E, R>(
  request: Request,
  { onRead, parse, recognise }: Naming<A, E, R>,
): Effect.Effect<readonly [sender: A, text: string], E | PayloadTooLarge | Validation, R> =>
  Effect.suspend(() => {
    const { headers } = request
    if (Number(headers["content-length"]) > MAX_BODY_BYTES) return tooLarge
    if (!isPlain(headers["content-encoding"])) return invalid(ENCODED)
    if (!isChunked(headers["transfer-encoding"])) return invalid(CODED)
    const parts: Array<Uint8Array> = []
    let size = 0
    let recognised: Effect.Effect<A, E, R> | undefined
    const taken = Stream.runForEach(
      Stream.catch(request.stream, () => Stream.fromEffect(cutShort)),
      (part): Effect.Effect<void, E | PayloadTooLarge, R> => {
        size += part.length
        onRead(part.length)
        if (size > MAX_BODY_BYTES) return tooLarge
        parts.push(part)
        if (recognised !== undefined || size < MOST_UNNAMED_BYTES) return Effect.void
        const start = Buffer.concat(parts).subarray(0, MOST_UNNAMED_BYTES)
        return Effect.map(recognise(lenientDecoder.decode(start)), (sender) => {
          recognised = Effect.succeed(sender)
        })
      },
    )
    const turn = Effect.suspend(() => turnOf({ length: size }))
    return Effect.flatMap(Effect.andThen(taken, turn), (): ReturnType<typeof readNamed<A, E, R>> =>
      Result.match(parse(joined(parts)), {
        onFailure: invalid,
        onSuccess: (text) => Effect.map(recognised ?? recognise(text), (sender) => [sender, text] as const),
      }),
    )
  })

const readAs =
  <A>(parse: (bytes: Uint8Array, contentEncoding: string | undefined) => Result.Result<A, string>) =>
  (request: Request, onRead?: OnRead, most?: number): Effect.Effect<A, PayloadTooLarge | Validation> =>
    Effect.flatMap(Effect.tap(read(request, onRead, most), turnOf), (bytes) => {
      const { headers } = request
      // Node removes the chunks, but decodes nothing inside them.
      if (!isChunked(headers["transfer-encoding"])) return invalid(CODED)
      return Result.match(parse(bytes, headers["content-encoding"]), {
        onSuccess: Effect.succeed,
        onFailure: invalid,
      })
    })

export const readJson = readAs(parseJson)

/** Reads a body as text, whatever its Content-Type. */
export const readText = readAs(decodeText)

/** Makes text of a body; fails with the message for its sender. */
export type ParseText = (bytes: Uint8Array, contentEncoding?: string) => Result.Result<string, string>

/** A body as the text of a sender's JSON, which may have more values than the API takes. */
export const parseSenderText: ParseText = (bytes, contentEncoding) => {
  const overfull = overfullSenderBody(bytes)
  return overfull === undefined ? decodeText(bytes, contentEncoding) : Result.fail(overfull)
}

/** A body as the text of lines of JSON, which may be compressed. */
export const parseEnvelope: ParseText = (bytes, contentEncoding = "identity") => {
  if (contentEncoding.toLowerCase() !== "gzip") return parseSenderText(bytes, contentEncoding)
  const unpacked = Result.try({
    try: () => gunzipSync(bytes, { maxOutputLength: MAX_BODY_BYTES }),
    catch: () => "the request body must be gzip of at most 1 MiB",
  })
  return Result.flatMap(unpacked, (plain) => parseSenderText(plain))
}

const latin1 = new TextDecoder("latin1")

/** A body as XML: old senders state an encoding that they do not use. */
export const parseXmlText: ParseText = (bytes, contentEncoding) =>
  isPlain(contentEncoding)
    ? Result.succeed(Result.getOrElse(decodeText(bytes), () => latin1.decode(bytes)))
    : Result.fail(ENCODED)

/** More fields than any sender's form has: a body of them would take seconds to read. */
const MOST_FIELDS = 1_000

/** The first fields of a form or a query. */
export const fieldsIn = (text: string): ReadonlyArray<readonly [name: string, value: string]> =>
  Array.from(new URLSearchParams(text.split("&", MOST_FIELDS).join("&")))

/** A body as the text of a form: of any encoding that has ASCII, as senders are old. */
export const parseForm: ParseText = (bytes, contentEncoding) => {
  if (!isPlain(contentEncoding)) return Result.fail(ENCODED)
  const text = lenientDecoder.decode(bytes)
  if (text.split("&", MOST_FIELDS + 1).length > MOST_FIELDS)
    return Result.fail(`the request body must have at most ${MOST_FIELDS} fields`)
  for (const [, value] of fieldsIn(text)) {
    const overfull = JSON_START.test(value) ? overfullSenderBody(Buffer.from(value)) : undefined
    if (overfull !== undefined) return Result.fail(overfull)
  }
  return Result.succeed(text)
}

const JSON_START = /^\s*[[{]/u

export const readParsed = (
  request: Request,
  parse: ParseText,
): Effect.Effect<string, PayloadTooLarge | Validation> => readAs(parse)(request)

/** Reads a body as what a schema describes, with the messages of the contract. */
export const readBody = <S extends Schema.ConstraintDecoder<unknown>>(
  request: Request,
  schema: S,
  most?: number,
): Effect.Effect<S["Type"], PayloadTooLarge | Validation> =>
  Effect.flatMap(readJson(request, undefined, most), (body) =>
    Result.match(SchemaParser.decodeUnknownResult(schema)(body), {
      onSuccess: Effect.succeed,
      onFailure: (issue) => invalid(describeIssue(issue, "the request body")),
    }),
  )

/** As much of a body as {@link readEnd} keeps. */
export const MOST_OF_END = 65_536
const lenientDecoder = new TextDecoder()

/** The end of a body, and how many bytes precede it. */
export interface EndOfBody {
  readonly text: string
  readonly droppedBytes: number
}

const endOf = (parts: ReadonlyArray<Uint8Array>, size: number): EndOfBody => {
  const kept = joined(parts).subarray(-MOST_OF_END)
  // The first bytes may be the rest of a character.
  const start = kept.length === size ? 0 : kept.findIndex((byte) => (byte & 0xc0) !== 0x80)
  return { text: lenientDecoder.decode(kept.subarray(start)), droppedBytes: size - kept.length + start }
}

/** The end of a body of at most 1 MiB as text: how a job failed stands there. A body that breaks off has none. */
export const readEnd = (request: Request): Effect.Effect<EndOfBody, PayloadTooLarge> =>
  Effect.suspend(() => {
    if (Number(request.headers["content-length"]) > MAX_BODY_BYTES) return tooLarge
    const parts: Array<Uint8Array> = []
    let [size, kept] = [0, 0]
    const whole = Stream.catch(request.stream, () => Stream.fromEffect(Effect.fail("broken" as const)))
    const taken = Stream.runForEach(whole, (part): Effect.Effect<void, PayloadTooLarge> => {
      size += part.length
      kept += part.length
      if (size > MAX_BODY_BYTES) return tooLarge
      parts.push(part)
      while (kept - (parts[0]?.length ?? 0) >= MOST_OF_END) kept -= parts.shift()?.length ?? 0
      return Effect.void
    })
    return Effect.matchEffect(taken, {
      onSuccess: () => Effect.succeed(endOf(parts, size)),
      onFailure: (why) =>
        why === "broken" ? Effect.succeed({ text: "", droppedBytes: 0 }) : Effect.fail(why),
    })
  })
