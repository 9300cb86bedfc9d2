/**
 * The rules at the gate, in the order in which the service judges them: the first that fails is the verdict.
 *
 * Pure: the moment is an argument, and nothing is looked up. `sdk/cases/rules.json` has cases that the service's
 * statement and this function answer alike. Moments are milliseconds since 1970.
 */

export const ACTIVATED = "activated";
// So long after its end an event still takes scans from before it.
const LATE = 72 * 3_600_000;

/** `doors_open_at` null: open since it was published. `codes`: `any`, or those that a phone made, `phone`. */
export interface EventRules {
  status: string;
  doors_open_at: number | null;
  codes: string;
  ended_at?: number | null;
}

/** When and where its tickets open the gate. null: always, everywhere. */
export interface CategoryRules {
  valid_from: number | null;
  valid_until: number | null;
  gates: readonly string[] | null;
}

/** What is known of a card. `ticket`: it has one that is not cancelled. `cancelled`: it had one that is. */
export interface Flags {
  ticket: boolean;
  used: boolean;
  suspended: boolean;
  revoked: boolean;
  cancelled: boolean;
}

/**
 * `expired` is what its token or its phone's certificate says, `dynamic` that nobody can lend the code. `received_at`
 * is when the service judged it, if it was sent later.
 */
export interface Circumstances {
  moment: number;
  gate: string | null;
  expired: boolean;
  dynamic: boolean;
  received_at?: number | null;
}

/** The verdict on a card that was shown at this moment: `activated`, or the code of the refusal. */
export function judge(
  event: EventRules | null,
  category: CategoryRules | null,
  flags: Flags | null,
  shown: Circumstances,
): string {
  return ofEvent(event, shown) ?? ofCode(event, shown) ?? ofCard(flags) ?? ofCategory(category, shown) ?? ACTIVATED;
}

function ofEvent(event: EventRules | null, shown: Circumstances): string | null {
  if (event === null) return "event_not_found";
  if (event.status !== "published" && !takesLate(event, shown)) return "event_not_active";
  if (event.doors_open_at !== null && shown.moment < event.doors_open_at) return "doors_closed";
  return null;
}

function takesLate(event: EventRules, { moment, received_at }: Circumstances): boolean {
  const ended = event.ended_at ?? null;
  if (event.status !== "ended" || ended === null || received_at == null) return false;
  return moment < ended && received_at < ended + LATE;
}

function ofCode(event: EventRules | null, shown: Circumstances): string | null {
  if (shown.expired) return "expired";
  return event !== null && event.codes !== "any" && !shown.dynamic ? "static_code_refused" : null;
}

function ofCard(flags: Flags | null): string | null {
  if (flags === null) return "card_not_found";
  if (flags.suspended) return "card_suspended";
  if (flags.revoked) return "card_revoked";
  if (!flags.ticket) return flags.cancelled ? "ticket_cancelled" : "ticket_not_found";
  return flags.used ? "already_activated" : null;
}

function ofCategory(category: CategoryRules | null, { moment, gate }: Circumstances): string | null {
  if (category === null) return null;
  const isEarly = category.valid_from !== null && moment < category.valid_from;
  if (isEarly || (category.valid_until !== null && moment >= category.valid_until)) return "outside_window";
  return category.gates !== null && (gate === null || !category.gates.includes(gate)) ? "wrong_gate" : null;
}
