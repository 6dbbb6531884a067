/** Browsers by a word of their User-Agent, the more special ones first. */
const BROWSERS: ReadonlyArray<readonly [word: RegExp, name: string]> = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Chrome|CriOS|Chromium)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
]

const SYSTEMS: ReadonlyArray<readonly [word: RegExp, name: string]> = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
]

const found = (names: typeof BROWSERS, agent: string): string | undefined =>
  names.find(([word]) => word.test(agent))?.[1]

/** The name of a browser for people, made of its User-Agent: `Firefox on Linux`. */
export const browserName = (agent = ""): string => {
  const system = found(SYSTEMS, agent)
  const browser = found(BROWSERS, agent) ?? "Browser"
  return system === undefined ? browser : `${browser} on ${system}`
}
