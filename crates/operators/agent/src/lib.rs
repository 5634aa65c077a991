//! Runs AI agents as kagent resources declare them.
