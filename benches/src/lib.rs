//! Inputs and floors that the benchmarks share.
