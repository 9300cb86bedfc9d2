"""A real call of each operation, to paste one after the other into a shell with a sandbox key.

No receiver listens at the endpoint, so it is paused before the first message: failed attempts would be in the answers.

The answers are in `answers.json`: `make reference` records them, and tests/docs compares them.
"""

from typing import Final

KEY: Final = '-H "Authorization: Bearer $GATEPASS_API_KEY"'
EVENT: Final = "00000000-0000-0000-0000-00000000e7e7"
URL: Final = "$GATEPASS_BASE_URL"
HOOK: Final = f"{URL}/webhooks/$WEBHOOK_ID"

CALLS: Final = {
    "list_events": f'curl -s "{URL}/events?limit=10" {KEY}',
    "retrieve_event": f'curl -s "{URL}/events/{EVENT}" {KEY}',
    "verify_card": f'curl -s "{URL}/card/verify?token=SVC1.TEST_VALID.0.0" {KEY}',
    "list_card_keys": f'curl -s "{URL}/card/keys" {KEY}',
    "create_scan": f"""\
curl -s "{URL}/scan" {KEY} \\
  -H "Idempotency-Key: 8e03978e-40d5-43dd-bc93-6894a57f9324" \\
  -d '{{
    "event_id": "{EVENT}",
    "token": "SVC1.TEST_VALID.0.0",
    "gate": "North 2",
    "scanner_id": "handheld-17"
  }}'""",
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
