//! Runs PostgreSQL as Database resources declare it.
