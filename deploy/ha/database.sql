-- Once, on the primary, as postgres: the role and the database of Gatepass. `gatepass migrate` does the rest.
CREATE ROLE gatepass LOGIN PASSWORD '${APPLICATION_PASSWORD}';
CREATE DATABASE gatepass OWNER gatepass;
