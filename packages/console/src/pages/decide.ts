import { scriptOf } from "../view/Script.tsx"

/** The script with the pages about who is notified: few open them, and they are as long as many others. */
export const decide = scriptOf(() => import("./decidePages.ts"))
