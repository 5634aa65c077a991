//! Watches to runner: write a controller in an afternoon.
