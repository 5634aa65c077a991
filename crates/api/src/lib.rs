//! Wire types of the public API, and its OpenAPI document
