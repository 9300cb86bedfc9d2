-- At most one partition of a history is dropped a day, so that a clock that is wrong costs little.
ALTER TABLE history ADD COLUMN dropped_at timestamptz;

-- An event that ended by itself and was opened again: it does not end by itself again at once.
ALTER TABLE event ADD COLUMN reopened_at timestamptz;
