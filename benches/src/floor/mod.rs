//! Floors.
