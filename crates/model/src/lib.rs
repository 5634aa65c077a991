//! The nouns of the fleet
