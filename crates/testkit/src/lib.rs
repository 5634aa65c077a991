//! Clusters, databases, fixtures and faults for tests
