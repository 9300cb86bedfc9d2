import { test } from "node:test";
import { type ActivatedTicket, OtherEvent, TicketActivated, type WebhookEvent } from "../src/index.js";

/** Never called: the compiler reads it. */
export function narrowed(event: WebhookEvent): string {
  if (event instanceof TicketActivated) {
    const data: ActivatedTicket = event.data;
    return data.card_number;
  }
  if (event instanceof OtherEvent) return String(event.data["anything"]);
  switch (event.type) {
    case "event.cancelled":
      return event.data.reason ?? event.data.event_id;
    case "scan.conflict":
      return event.data.kind;
    default:
      return event.type;
  }
}

test("a message is known by its type", () => undefined);
