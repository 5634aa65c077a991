//! Keeps the shapes of a cloud API as Shape resources declare them.
