-- As the file was read: utf-8 or windows-1252. Null for a file of version 0.2, which read UTF-8 alone.
ALTER TABLE import ADD COLUMN encoding text;
