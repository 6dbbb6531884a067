import { ofText, type Service } from "./Service.ts"

/** An incoming webhook; at most 32,000 bytes (developers.google.com, "spaces.messages.create", November 2026). */
export const googleChat: Service = ofText(8_000)
