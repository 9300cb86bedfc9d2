/** Webhook endpoints, their deliveries, and replays. */

import { amount, integer, list, maybe, moment, type OneOf, or, secretive, shape, text } from "../decode.js";

export interface SecretRotation {
  switches_at: string;
  retires_at: string;
}

export interface WebhookEndpoint {
  id: string;
  mode: OneOf<"live" | "sandbox">;
  url: string;
  types: readonly string[];
  description: string | null;
  status: OneOf<"active" | "paused">;
  paused_reason: string | null;
  failing_since: string | null;
  rotation: SecretRotation | null;
  created_at: string;
  /** Set when the endpoint was just created or its secret rotated; else null. */
  secret: string | null;
}

export const webhookEndpoint = secretive(
  shape<WebhookEndpoint>({
    id: text,
    mode: text,
    url: text,
    types: list(text),
    description: maybe(text),
    status: text,
    paused_reason: maybe(text),
    failing_since: maybe(moment),
    rotation: maybe(shape<SecretRotation>({ switches_at: moment, retires_at: moment })),
    created_at: moment,
    secret: or(maybe(text), null),
  }),
  "secret",
);

export interface Delivery {
  id: string;
  event_id: string;
  type: string;
  status: OneOf<"pending" | "delivered" | "held" | "failed">;
  attempts: number;
  next_attempt_at: string | null;
  last_status: number | null;
  last_error: string | null;
  created_at: string;
  ended_at: string | null;
  replay_id: string | null;
}

const DELIVERY = {
  id: text,
  event_id: text,
  type: text,
  status: text,
  attempts: integer,
  next_attempt_at: maybe(moment),
  last_status: maybe(integer),
  last_error: maybe(text),
  created_at: moment,
  ended_at: maybe(moment),
  replay_id: or(maybe(text), null),
};

export const delivery = shape<Delivery>(DELIVERY);

export interface DeliveryAttempt {
  n: number;
  at: string;
  status: number | null;
  error: string | null;
  total_ms: number;
  answer_head: string | null;
  address: string | null;
  dns_ms: number | null;
  connect_ms: number | null;
  answer_ms: number | null;
}

/** A delivery with its message and all its attempts. */
export interface DeliveryDetail extends Delivery {
  attempts_made: readonly DeliveryAttempt[];
  body: string | null;
}

export const deliveryDetail = shape<DeliveryDetail>({
  ...DELIVERY,
  attempts_made: list(
    shape<DeliveryAttempt>({
      n: integer,
      at: moment,
      status: maybe(integer),
      error: maybe(text),
      total_ms: amount,
      answer_head: maybe(text),
      address: or(maybe(text), null),
      dns_ms: or(maybe(amount), null),
      connect_ms: or(maybe(amount), null),
      answer_ms: or(maybe(amount), null),
    }),
  ),
  body: maybe(text),
});

export interface Replay {
  id: string;
  status: string;
  total: number;
  done: number;
  since: string;
  until: string;
  types: readonly string[] | null;
  statuses: readonly string[];
  created_at: string;
  ended_at: string | null;
}

export const replay = shape<Replay>({
  id: text,
  status: text,
  total: integer,
  done: integer,
  since: moment,
  until: moment,
  types: maybe(list(text)),
  statuses: list(text),
  created_at: moment,
  ended_at: maybe(moment),
});

export const replayCount = shape<{ total: number }>({ total: integer });
