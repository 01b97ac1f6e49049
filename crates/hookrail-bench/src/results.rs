//! The raw data of a run, as it is written to a file.
//!
//! Ratios, tables and marks are not part of it: they are computed from it when they are needed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::stats::{Spread, spread};

/// All results of one run.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct BenchResults {
    /// Where it was measured.
    pub machine: Machine,
    /// How it was measured.
    pub method: Method,
    /// The versions of the peers, or why one is missing.
    pub peers: BTreeMap<String, String>,
    /// What was measured.
    pub cases: Vec<CaseResult>,
}

/// Where it was measured.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Machine {
    /// The processor.
    pub processor: String,
    /// How many of its cores there were.
    pub cores: usize,
    /// The kernel.
    pub kernel: String,
    /// The load average of one minute when the run started.
    pub load: String,
    /// The compiler.
    pub rustc: String,
    /// The state of the source.
    pub commit: String,
}

/// How it was measured.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Method {
    /// The scheduling policy, as the kernel reports it.
    pub scheduling: String,
    /// The highest number of rounds of a case.
    pub rounds: usize,
    /// The longest time of a case in seconds.
    pub seconds: f64,
    /// Whether it was a quick run.
    pub quick: bool,
}

/// One case.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct CaseResult {
    /// Its name.
    pub name: String,
    /// What it measures.
    pub title: String,
    /// The variants, with a time for each round.
    pub variants: Vec<VariantResult>,
    /// Values that are not times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<MeasuredValue>,
    /// What could not be measured, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
}

/// One way of doing the work.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct VariantResult {
    /// Its name.
    pub name: String,
    /// What it does.
    pub what: String,
    /// Nanoseconds for one piece of work, one number for each round.
    pub nanoseconds: Vec<f64>,
}

/// A value that is not a time.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct MeasuredValue {
    /// What it is.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// The number.
    pub value: f64,
}

impl BenchResults {
    /// A case by its name.
    #[must_use]
    pub fn case(&self, name: &str) -> Option<&CaseResult> {
        self.cases.iter().find(|case| case.name == name)
    }
}

impl CaseResult {
    /// A variant by its name.
    #[must_use]
    pub fn variant(&self, name: &str) -> Option<&VariantResult> {
        self.variants.iter().find(|variant| variant.name == name)
    }

    /// A number by its name.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|value| value.name == name).map(|value| value.value)
    }

    /// The spread of the ratios of two variants, taken round by round.
    #[must_use]
    pub fn ratio(&self, of: &str, to: &str) -> Option<Spread> {
        let (of, to) = (self.variant(of)?, self.variant(to)?);
        spread(of.nanoseconds.iter().zip(&to.nanoseconds).map(|(of, to)| of / to))
    }

    /// The same, with the time of a third variant subtracted from the first.
    #[must_use]
    pub fn ratio_without(&self, of: &str, without: &str, to: &str) -> Option<Spread> {
        let (of, without, to) = (self.variant(of)?, self.variant(without)?, self.variant(to)?);
        let pairs = of.nanoseconds.iter().zip(&without.nanoseconds).zip(&to.nanoseconds);
        spread(pairs.map(|((of, without), to)| (of - without) / to))
    }
}

impl VariantResult {
    /// The spread of the times.
    #[must_use]
    pub fn time(&self) -> Option<Spread> {
        spread(self.nanoseconds.iter().copied())
    }
}
