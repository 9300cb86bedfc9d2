"""A real call of each operation, to paste one after the other into a shell with a sandbox key.

The sandbox has one event, and makes no cards and tickets, so the calls that make or change them use the live key of the
demo.

The head of the page pairs a device, and has `sign` for its journal. A manifest is binary, so its header is shown; of a
stream, the first message.

No receiver listens at the endpoint, so it is paused before the first message: failed attempts would be in the answers.

The answers are in `answers.json`: `make reference` records them, and tests/docs compares them.
"""

from typing import Final

KEY: Final = '-H "Authorization: Bearer $GATEPASS_API_KEY"'
EVENT: Final = "00000000-0000-0000-0000-00000000e7e7"
URL: Final = "$GATEPASS_BASE_URL"
HOOK: Final = f"{URL}/webhooks/$WEBHOOK_ID"
LIVE: Final = '-H "Authorization: Bearer $(jq -r .keys.live .gatepass/demo.json)"'
DRAFT: Final = (
    '{"title": "Winter Ball", "starts_at": "2031-01-10T20:00:00+01:00", "ends_at": "2031-01-11T02:00:00+01:00"}'
)
CARD: Final = f"{URL}/cards/$CARD_ID"
TICKET: Final = f"{URL}/tickets/$TICKET_ID"
DEVICE: Final = '-H "Authorization: Bearer $DEVICE_KEY"'
MANIFEST: Final = f"{URL}/events/$DEVICE_EVENT_ID/manifest"
PAIRED: Final = f"{URL}/devices/$DEVICE_ID"
SEATS: Final = '{"name": "Seats", "price": 40, "currency": "EUR", "quantity_total": 200}'

CALLS: Final = {
    "list_events": f'curl -s "{URL}/events?limit=10" {KEY}',
    "retrieve_event": f'curl -s "{URL}/events/{EVENT}" {KEY}',
    "create_event": f"""\
curl -s "{URL}/events" {LIVE} \\
  -H "Idempotency-Key: 5d0d4a4b-0a5c-4f0e-9a53-6b0f4a3f1c55" \\
  -d '{{
    "title": "Summer Opening",
    "starts_at": "2030-06-15T20:00:00+02:00",
    "ends_at": "2030-06-15T23:00:00+02:00",
    "time_zone": "Europe/Brussels",
    "venue": "Hall 1",
    "city": "Brussels",
    "country": "BE"
  }}' | tee event.json
export EVENT_ID=$(jq -r .data.id event.json)""",
    "update_event": f"""curl -s -X PATCH "{URL}/events/$EVENT_ID" {LIVE} -d '{{"venue": "Hall 2"}}'""",
    "create_ticket_category": f"""\
curl -s "{URL}/events/$EVENT_ID/ticket-categories" {LIVE} \\
  -d '{{"name": "Standing", "price": 25.5, "currency": "EUR", "quantity_total": 1000}}' | tee category.json
export CATEGORY_ID=$(jq -r .data.id category.json)""",
    "update_ticket_category": f"""\
curl -s -X PATCH "{URL}/ticket-categories/$CATEGORY_ID" {LIVE} -d '{{"quantity_total": 1200}}'""",
    "publish_event": f"""curl -s -X POST "{URL}/events/$EVENT_ID/publish" {LIVE}""",
    "end_event": f"""curl -s -X POST "{URL}/events/$EVENT_ID/end" {LIVE}""",
    "reopen_event": f"""\
curl -s "{URL}/events/$(jq -r .events.ended .gatepass/demo.json)/reopen" {LIVE} \\
  -d '{{"reason": "It goes on until two."}}'""",
    "cancel_event": f"""\
curl -s -o draft.json "{URL}/events" {LIVE} -d '{DRAFT}'
curl -s "{URL}/events/$(jq -r .data.id draft.json)/cancel" {LIVE} -d '{{"reason": "The headliner is ill."}}'""",
    "delete_ticket_category": f"""\
curl -s -o draft.json "{URL}/events" {LIVE} -d '{DRAFT}'
curl -s -o seats.json "{URL}/events/$(jq -r .data.id draft.json)/ticket-categories" {LIVE} \\
  -d '{SEATS}'
curl -s -o deleted.json -w "%{{http_code}}\\n" -X DELETE \\
  "{URL}/ticket-categories/$(jq -r .data.id seats.json)" {LIVE}""",
    "delete_event": f"""\
curl -s -o deleted.json -w "%{{http_code}}\\n" -X DELETE "{URL}/events/$(jq -r .data.id draft.json)" {LIVE}""",
    "verify_card": f'curl -s "{URL}/card/verify?token=SVC1.TEST_VALID.0.0" {KEY}',
    "list_card_keys": f'curl -s "{URL}/card/keys" {KEY}',
    "create_card": f"""\
curl -s "{URL}/cards" {LIVE} \\
  -H "Idempotency-Key: 0f1f9a52-6c1e-4a0e-8d5c-6b7b1a2c9d10" \\
  -d '{{
    "holder": {{"name": "Ann Example", "email": "ann@example.org", "locale": "en-GB"}},
    "external_id": "MEMBER-17"
  }}' | tee card.json
export CARD_ID=$(jq -r .data.id card.json)""",
    "list_cards": f'curl -s "{URL}/cards?external_id=MEMBER-17" {LIVE}',
    "retrieve_card": f'curl -s "{CARD}" {LIVE}',
    "update_card": f"""curl -s -X PATCH "{CARD}" {LIVE} -d '{{"holder": {{"name": "Ann Other"}}}}'""",
    "suspend_card": f"""curl -s "{CARD}/suspend" {LIVE} -d '{{"reason": "Reported as lost."}}'""",
    "resume_card": f"""curl -s "{CARD}/resume" {LIVE} -d '{{"reason": "It was found."}}'""",
    "create_card_token": f"""curl -s "{CARD}/token" {LIVE} -d '{{}}'""",
    "create_card_link": f"""curl -s "{CARD}/link" {LIVE} -d '{{}}'""",
    "create_card_tokens": f"""curl -s "{URL}/card-tokens" {LIVE} -d '{{"cards": ["'$CARD_ID'"]}}'""",
    "replace_card": f"""\
curl -s "{CARD}/replace" {LIVE} -d '{{"reason": "Stolen."}}' | tee card.json
export CARD_ID=$(jq -r .data.id card.json)""",
    "revoke_card": f"""\
curl -s -o other.json "{URL}/cards" {LIVE} -d '{{}}'
curl -s "{URL}/cards/$(jq -r .data.id other.json)/revoke" {LIVE} -d '{{"reason": "Printed twice."}}'""",
    "create_ticket": f"""\
curl -s -o draft.json "{URL}/events" {LIVE} -d '{DRAFT}'
export EVENT_ID=$(jq -r .data.id draft.json)
curl -s -o seats.json "{URL}/events/$EVENT_ID/ticket-categories" {LIVE} \\
  -d '{SEATS}'
export CATEGORY_ID=$(jq -r .data.id seats.json)
curl -s "{URL}/tickets" {LIVE} \\
  -H "Idempotency-Key: 7c0e5a0a-3f0c-4c3d-9a9f-1f6d2b8e4a21" \\
  -d '{{
    "event_id": "'$EVENT_ID'",
    "category_id": "'$CATEGORY_ID'",
    "holder": {{"name": "Ann Example", "email": "ann@example.org"}},
    "external_id": "ORDER-1-1"
  }}' | tee ticket.json
export TICKET_ID=$(jq -r .data.id ticket.json)""",
    "create_tickets": f"""\
curl -s "{URL}/tickets/batch" {LIVE} \\
  -H "Idempotency-Key: b2a7f6a0-58f4-4c1b-b4a8-0a52d1f9c7e3" \\
  -d '{{"tickets": [
    {{"event_id": "'$EVENT_ID'", "category_id": "'$CATEGORY_ID'", "holder": {{"email": "ben@example.org"}}}},
    {{"event_id": "'$EVENT_ID'", "category_id": "'$CATEGORY_ID'", "card_number": "SVC 0000 0000 0000"}}
  ]}}'""",
    "list_tickets": f'curl -s "{URL}/tickets?event_id=$EVENT_ID&external_id=ORDER-1-1" {LIVE}',
    "retrieve_ticket": f'curl -s "{TICKET}" {LIVE}',
    "transfer_ticket": f"""\
curl -s "{TICKET}/transfer" {LIVE} -d '{{"holder": {{"name": "Cem Example", "email": "cem@example.org"}}}}'""",
    "cancel_ticket": f"""curl -s "{TICKET}/cancel" {LIVE} -d '{{"reason": "The order was refunded."}}'""",
    "create_scan": f"""\
curl -s "{URL}/scan" {KEY} \\
  -H "Idempotency-Key: 8e03978e-40d5-43dd-bc93-6894a57f9324" \\
  -d '{{
    "event_id": "{EVENT}",
    "token": "SVC1.TEST_VALID.0.0",
    "gate": "North 2",
    "scanner_id": "handheld-17"
  }}'""",
    "list_scans": f"""\
curl -s -o scanned.json "{URL}/scan" {KEY} \\
  -d '{{"event_id": "{EVENT}", "card_number": "TEST_VIP", "gate": "North 2"}}'
curl -s "{URL}/scans?event_id={EVENT}&limit=1" {KEY}""",
    "create_scan_batch": f"""\
TOKEN=$(jq -r .cards.suspended.token .gatepass/demo.json)
KEY=0197a3c2-8d41-7c06-9b1e-5a2f7d3c4e17
AT=$(date -u +%FT%TZ)
SIGNATURE=$(sign svc-journal-1 $DEVICE_ID 1 $KEY $DEVICE_EVENT_ID \\
  $(printf %s "$TOKEN" | openssl dgst -sha256 -r | cut -c 1-64) "North 2" $AT true)
curl -s "{URL}/scans/batch" {DEVICE} \\
  -d '{{"entries": [{{
    "sequence": 1,
    "idempotency_key": "'$KEY'",
    "event_id": "'$DEVICE_EVENT_ID'",
    "token": "'$TOKEN'",
    "gate": "North 2",
    "occurred_at": "'$AT'",
    "admitted": true,
    "signature": "'$SIGNATURE'"
  }}]}}'""",
    "list_incidents": f"""\
curl -s "{URL}/incidents?event_id=$DEVICE_EVENT_ID&kind=suspended" {LIVE} | tee incidents.json
export INCIDENT_ID=$(jq -r '.data[0].id' incidents.json)""",
    "retrieve_incident": f'curl -s "{URL}/incidents/$INCIDENT_ID" {LIVE}',
    "get_manifest": f"""\
curl -s -o manifest.bin "{MANIFEST}" {DEVICE}
tail -c +9 manifest.bin | jq -n input | tee header.json""",
    "follow_manifest": f"""\
curl -s -o scanned.json "{URL}/scan" {LIVE} \\
  -d "{{\\"event_id\\": \\"$DEVICE_EVENT_ID\\", \\"token\\": $(jq .cards.unused[0].token .gatepass/demo.json)}}"
curl -sN --max-time 10 "{MANIFEST}/stream?after=$(jq -r .cursor header.json)" {DEVICE} \\
  | grep -m 2 '^[ed]' | cut -c 1-14""",
    "create_heartbeat": f"""\
curl -s "{URL}/devices/heartbeat" {DEVICE} \\
  -d '{{"at": "'$(date -u +%FT%TZ)'", "queued": 0, "app": "curl"}}'""",
    "list_devices": f'curl -s "{URL}/devices?event_id=$DEVICE_EVENT_ID" {LIVE}',
    "retrieve_device": f'curl -s "{PAIRED}" {LIVE}',
    "update_device": f"""curl -s -X PATCH "{PAIRED}" {LIVE} -d '{{"gate": "South 1"}}'""",
    "retire_device": f'curl -s -X POST "{PAIRED}/retire" {LIVE}',
    "revoke_device": f'curl -s -X POST "{PAIRED}/revoke" {LIVE}',
    "create_webhook": f"""\
curl -s "{URL}/webhooks" {KEY} \\
  -d '{{"url": "http://127.0.0.1:9000/", "types": ["ticket.activated"], "description": "Door list"}}' | tee webhook.json
export WEBHOOK_ID=$(jq -r .data.id webhook.json)""",
    "list_webhooks": f'curl -s "{URL}/webhooks" {KEY}',
    "retrieve_webhook": f'curl -s "{HOOK}" {KEY}',
    "update_webhook": f"""curl -s -X PATCH "{HOOK}" {KEY} -d '{{"status": "paused"}}'""",
    "rotate_webhook_secret": f'curl -s -X POST "{HOOK}/rotate-secret" {KEY}',
    "list_webhook_deliveries": f"""\
curl -s -o scanned.json "{URL}/scan" {KEY} \\
  -d '{{"event_id": "{EVENT}", "card_number": "TEST_VIP"}}'
curl -s "{HOOK}/deliveries?type=ticket.activated" {KEY} | tee deliveries.json""",
    "retrieve_webhook_delivery": f"""\
export DELIVERY_ID=$(jq -r '.data[0].id' deliveries.json)
curl -s "{HOOK}/deliveries/$DELIVERY_ID" {KEY}""",
    "replay_webhook": f"""\
curl -s "{HOOK}/replay" {KEY} \\
  -d '{{"types": ["ticket.activated"], "statuses": ["failed"], "dry_run": true}}'""",
    "list_webhook_replays": f'curl -s "{HOOK}/replay" {KEY}',
    "test_webhook": f"""\
curl -s -o resumed.json -X PATCH "{HOOK}" {KEY} -d '{{"status": "active"}}'
curl -s -X POST "{HOOK}/test" {KEY}""",
    "list_webhook_events": f'curl -s "{URL}/webhook-events?limit=1" {KEY}',
    "delete_webhook": f"""curl -s -o deleted.json -w "%{{http_code}}\\n" -X DELETE "{HOOK}" {KEY}""",
}
