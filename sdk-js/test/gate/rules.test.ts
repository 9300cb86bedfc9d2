/** The rules answer every case of sdk/cases/rules.json as it is written. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type CategoryRules, type EventRules, type Flags, judge } from "../../src/gate/decision/rules.js";
import { momentOf } from "../../src/gate/moment.js";
import { cases } from "./cases.js";

interface Case {
  name: string;
  event: {
    status: string;
    ends_at: string;
    ended_at: string | null;
    doors_open_at: string | null;
    codes: string;
  } | null;
  category: { valid_from: string | null; valid_until: string | null; gates: string[] | null };
  card: { status: string; phone: number } | null;
  ticket: { states: string[] } | null;
  scan: {
    at: string;
    occurred_at: string | null;
    gate: string | null;
    code: string;
    expired: boolean;
    phone: number | null;
  };
  verdict: string;
}

const moment = (text: string | null): number | null => (text === null ? null : momentOf(text));

function eventRules(event: Case["event"]): EventRules | null {
  if (event === null) return null;
  const ended_at = moment(event.ended_at) ?? moment(event.ends_at);
  return { status: event.status, doors_open_at: moment(event.doors_open_at), codes: event.codes, ended_at };
}

function categoryRules({ valid_from, valid_until, gates }: Case["category"]): CategoryRules {
  return { valid_from: moment(valid_from), valid_until: moment(valid_until), gates };
}

function flags(card: Case["card"], ticket: Case["ticket"]): Flags | null {
  if (card === null) return null;
  const states = ticket?.states ?? [];
  return {
    ticket: states.includes("issued") || states.includes("activated"),
    used: states.includes("activated"),
    suspended: card.status === "suspended",
    revoked: card.status === "revoked",
    cancelled: states.includes("cancelled"),
  };
}

const { cases: all } = cases<{ cases: Case[] }>("rules");

test("there are all cases", () => {
  assert.ok(all.length >= 249);
});

for (const { name, event, category, card, ticket, scan, verdict } of all) {
  test(name, () => {
    const has_moved = scan.phone !== null && card !== null && scan.phone !== card.phone;
    const received_at = momentOf(scan.at);
    const occurred_at = moment(scan.occurred_at);
    const found = judge(eventRules(event), categoryRules(category), flags(card, ticket), {
      moment: occurred_at ?? received_at,
      gate: scan.gate,
      expired: scan.expired || has_moved,
      dynamic: scan.code === "fresh" || scan.code === "phone",
      received_at: occurred_at === null ? null : received_at,
    });
    assert.equal(found, verdict);
  });
}
