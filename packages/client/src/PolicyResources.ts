// Silences, announcements, rotas and policies, as `Resources.ts` has the others.
import type { PatchedPolicy as Patched } from "@tocsin/contract/policy/Policies"
import type { Answer, Body, Headers, Path, Query } from "./calls/endpoints.ts"

/** A silence, and its state at the moment of the answer. */
export interface Silence extends Answer<"getSilence"> {}

/** The state that silences are in, and paging. */
export interface SilenceListParameters extends Query<"listSilences"> {}

/** A new silence, `for` a duration or until `ends_at`. One of more than half of the agents needs `confirm`. */
export interface NewSilence extends Body<"createSilence"> {}

/** Whether a silence is only previewed. */
export interface SilenceCreationParameters extends Query<"createSilence"> {}

/** The fields to change in a silence. */
export interface SilenceChanges extends Body<"changeSilence"> {}

/** The agents and rows that a silence would cover now. */
export type SilencePreview = Exclude<Answer<"createSilence">, Silence>

/** A message to the readers of a public page, and its state at the moment of the answer. */
export interface Announcement extends Answer<"createAnnouncement"> {}

/** The page and the state of announcements, and paging. */
export interface AnnouncementListParameters extends Query<"listAnnouncements"> {}

/** A new announcement: `starts_at` is now unless given. */
export interface NewAnnouncement extends Body<"createAnnouncement"> {}

/** A text to add to an announcement. */
export interface AnnouncementUpdate extends Body<"updateAnnouncement"> {}

/** Who is on call in each rota, and who comes next. */
export interface RotaList extends Answer<"listRotas"> {}

/** A rota over time: its turns, its overrides, and receivers on call that get no messages, or not always. */
export interface RotaPlan extends Answer<"getRota"> {}

/** The span of turns. */
export interface RotaParameters extends Query<"getRota"> {}

/** An override of a rota, and its state at the moment of the answer. */
export interface Override extends Answer<"createOverride"> {}

/** A new override of a rota: `from` is now unless given. */
export interface NewOverride extends Body<"createOverride"> {}

/** Overrides of one rota. */
export interface OverrideList extends Answer<"listOverrides"> {}

/** From when on overrides are listed. */
export interface OverrideListParameters extends Query<"listOverrides"> {}

/** An override by the name of its rota and its id. */
export interface OverrideName extends Path<"endOverride"> {}

/** The policy in force in the process that answered; it contains no secret. */
export interface PolicyInForce extends Answer<"getPolicy"> {}

type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [key: string]: Json }
/** A JSON Schema, draft 2020-12. */
export interface PolicySchema {
  readonly [keyword: string]: Json
}

/** The problems of a policy by path and line; none if it is valid. */
export interface PolicyCheck extends Answer<"checkPolicy"> {}

/** The messages that a policy would have sent, beside those of the policy in force. */
export interface PolicyTrial extends Answer<"tryPolicy"> {}

/** How long until now a policy is tried for, as `since`. */
export interface PolicyTrialParameters extends Query<"tryPolicy"> {}

/** A policy that was applied, with its text and with what it sends immediately. */
export interface AppliedPolicy extends Answer<"applyPolicy"> {}

/** The hash of the policy to replace, as `if-match`, and whether many firings are meant, as `confirm`. */
export interface PolicyApplicationParameters extends Query<"applyPolicy">, Headers<"applyPolicy"> {}

/** A change of the policy's text (RFC 6902), or a test of it. */
export type PolicyPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: Json }
  | { readonly op: "remove"; readonly path: string }

/** Changes of the policy's text: 1 to 50 operations. */
export type PolicyPatch = ReadonlyArray<PolicyPatchOperation>

/** The hash of the policy to change, as `if-match`; `confirm`, and `dry_run` for the text alone. */
export interface PolicyPatchParameters extends Query<"patchPolicy">, Headers<"patchPolicy"> {}

/** The text with the changes made, and its problems; nothing is stored. */
export interface PatchedPolicy extends Readonly<(typeof Patched)["Encoded"]> {}

/** A receiver's entry, as a policy has it. */
export interface ReceiverRequest extends Body<"putReceiver"> {}

/** The hash of the policy whose receiver is changed, as `if-match`, and whether its consequences are meant, as `confirm`. */
export interface ReceiverParameters extends Query<"putReceiver">, Headers<"putReceiver"> {}

/** Whether the texts of versions are left out, and a single version. */
export interface PolicyVersionParameters extends Query<"listPolicyVersions"> {}

/** The last policies that were applied, the newest first. */
export interface PolicyVersionList extends Answer<"listPolicyVersions"> {}

/** The maintenance windows of the policy, each with its next times. */
export interface WindowList extends Answer<"listWindows"> {}

/** The settings that an admin may change while servers run. */
export interface SettingList extends Answer<"listSettings"> {}

/** A setting, and where its value comes from. */
export interface Setting extends Answer<"putSetting"> {}

/** The value of a setting. */
export interface NewSetting extends Body<"putSetting"> {}

/** All stored secrets, without their values. */
export interface StoredSecretsList extends Answer<"listSecrets"> {}

/** The stored secrets of one receiver, without their values. */
export interface StoredSecrets extends Answer<"putSecrets"> {}

/** All secrets of a receiver, as `values`. */
export interface NewSecrets extends Body<"putSecrets"> {}

/** An invitation has no options: `{}`. */
export interface InvitationOptions extends Body<"invite"> {}

/** A new invitation with its `token`, which is not shown again. */
export interface NewInvitation extends Answer<"invite"> {}

/** The open invitations of an operator, without their tokens. */
export interface InvitationList extends Answer<"listInvitations"> {}

/** An invitation: the `name` of its operator, and its `id`. */
export interface InvitationName extends Path<"removeInvitation"> {}
