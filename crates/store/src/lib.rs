//! Durable storage: one trait per noun, SQLite and PostgreSQL
