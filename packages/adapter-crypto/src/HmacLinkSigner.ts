import { createHmac, timingSafeEqual } from "node:crypto"
import type { OutboxId } from "@tocsin/contract/formats/Identifiers"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { LinkSigner } from "@tocsin/core/kernel/ports/Hashing"
import { Layer, Redacted } from "effect"

/** Hex digits: chats end a link before a `_` or `-` at its end. One form only, so no other text is a token. */
const TOKEN = /^(?<id>[0-9a-f]{32})(?<mac>[0-9a-f]{64})$/
const CALENDAR = /^[0-9a-f]{64}$/
const GROUPS = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/

/** The form of a link key: 32 bytes in hex digits. */
export const LINK_KEY = /^[0-9a-fA-F]{64}$/

/** {@link LinkSigner}: the ID of a notification and its HMAC-SHA-256 under the link key, 64 hex digits. */
export const layer = (key: Redacted.Redacted): Layer.Layer<never> =>
  Layer.sync(LinkSigner, () => {
    const bytes = Buffer.from(Redacted.value(key), "hex")
    const macOf = (text: string): Buffer => createHmac("sha256", bytes).update(text).digest()
    const isMac = (given: string, text: string): boolean => {
      const [mac, own] = [Buffer.from(given, "hex"), macOf(text)]
      return mac.length === own.length && timingSafeEqual(mac, own)
    }
    // No ID of a notification has a colon.
    const ofCalendar = (rota: NotifierName) => `ics:${rota}`
    return {
      tokenOf: (id) => id.replaceAll("-", "") + macOf(id).toString("hex"),
      idOf: (token) => {
        const { id: digits = "", mac = "" } = TOKEN.exec(token)?.groups ?? {}
        // The ID needs no check: only this service makes a MAC of it.
        const id = digits.replace(GROUPS, "$1-$2-$3-$4-$5") as OutboxId
        return isMac(mac, id) ? id : undefined
      },
      calendarTokenOf: (rota) => macOf(ofCalendar(rota)).toString("hex"),
      isOfCalendar: (token, rota) => CALENDAR.test(token) && isMac(token, ofCalendar(rota)),
      markOf: (text) => macOf(`mark:${text}`).toString("hex"),
    }
  })
