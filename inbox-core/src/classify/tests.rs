//! Tests of the classification.
