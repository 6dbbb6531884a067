import { ofText, type Service } from "./Service.ts"

/** An incoming webhook; 16,383 characters (docs.mattermost.com, "Incoming webhooks", November 2026). */
export const mattermost: Service = ofText(16_383)
