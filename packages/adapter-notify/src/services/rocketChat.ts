import { ofText, type Service } from "./Service.ts"

/**
 * An incoming webhook; 5,000 characters unless the server allows more (`Message_MaxAllowedSize` in
 * github.com/RocketChat/Rocket.Chat, `apps/meteor/server/settings/message.ts`, November 2026).
 */
export const rocketChat: Service = ofText(5_000)
