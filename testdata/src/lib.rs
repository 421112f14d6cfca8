//! Test data: the corpus of real traces, and `synth`, a writer that shares no code with the parser.

pub mod synth;
