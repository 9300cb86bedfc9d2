-- Why an event was cancelled: the reason of each of its tickets, which the worker cancels afterwards. It is null for an
-- event that version 0.2 cancels.
ALTER TABLE event ADD COLUMN cancel_reason text;
