/**
 * The form of a name of the IANA time zone database: a region and a place, or one of its names of a single word.
 * Engines know more, such as BST, which names Dhaka there. EST, MST and HST are left out: in the database they have no
 * summer time, which few people mean.
 */
export const TIME_ZONE_NAME =
  /^(?:(?!SystemV\/)[a-z_]+(?:\/[a-z0-9_+-]+)+|UTC|UCT|GMT|GMT[+-]?0|Greenwich|Universal|Zulu|CET|EET|MET|WET|(?:EST5E|CST6C|MST7M|PST8P)DT|Cuba|Egypt|Eire|GB|GB-Eire|Hongkong|Iceland|Iran|Israel|Jamaica|Japan|Kwajalein|Libya|Navajo|NZ|NZ-CHAT|Poland|Portugal|PRC|ROC|ROK|Singapore|Turkey|W-SU)$/iu

export const TIME_ZONE_RULE =
  "must be an IANA time zone, such as Europe/Berlin, and no abbreviation such as EST"
