import { defused, type Service } from "./Service.ts"

const ofText = (limit: number): Service => ({
  limit,
  escape: defused,
  request: ({ text }) => ({ body: { text } }),
})

/** An incoming webhook; at most 32,000 bytes (developers.google.com, "spaces.messages.create"). */
export const googleChat: Service = ofText(8_000)

/** An incoming webhook; 16,383 characters (docs.mattermost.com, "Incoming webhooks"). */
export const mattermost: Service = ofText(16_383)

/**
 * An incoming webhook; 5,000 characters unless the server allows more (`Message_MaxAllowedSize` in
 * github.com/RocketChat/Rocket.Chat, `apps/meteor/server/settings/message.ts`).
 */
export const rocketChat: Service = ofText(5_000)
