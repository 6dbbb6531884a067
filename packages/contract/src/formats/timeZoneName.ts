/**
 * The form of a name of the IANA time zone database: a region and a place, or one of its names of a single word.
 * Engines know more, such as BST, which names Dhaka there.
 */
export const TIME_ZONE_NAME =
  /^(?:(?!SystemV\/)[a-z_]+(?:\/[a-z0-9_+-]+)+|UTC|UCT|GMT|GMT[+-]?0|Greenwich|Universal|Zulu|CET|EET|MET|WET|(?:EST5E|CST6C|MST7M|PST8P)DT|EST|MST|HST|Cuba|Egypt|Eire|GB|GB-Eire|Hongkong|Iceland|Iran|Israel|Jamaica|Japan|Kwajalein|Libya|Navajo|NZ|NZ-CHAT|Poland|Portugal|PRC|ROC|ROK|Singapore|Turkey|W-SU)$/iu

export const TIME_ZONE_RULE =
  "must be an IANA time zone, such as Europe/Berlin, and no abbreviation such as BST"

/** Names of single words that few people mean: in the database, they know no summer time (docs/policy.md#time-zones). */
const WITHOUT_SUMMER: Readonly<Record<string, string>> = {
  EST: "America/New_York",
  MST: "America/Denver",
  HST: "America/Adak",
}

/** A warning about a zone that knows no summer time, where people may expect it. */
export const zoneWarning = (tz: string): string | undefined => {
  const meant = WITHOUT_SUMMER[tz.toUpperCase()]
  return meant && `knows no summer time: write ${meant} unless that is meant`
}
