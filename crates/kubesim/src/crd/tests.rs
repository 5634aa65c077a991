//! Rules of CRDs and of the resources they define, as tables.
