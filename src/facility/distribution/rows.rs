//! The macro of the table of distributions.

/// Defines [`Distribution`] and [`KINDS`] by rows: a variant, its kind, and the quantities that
/// follow from its parameters. The second part has those that are drawn from a table, which need no
/// code of their own in kernels.
macro_rules! distributions {
    ({$($(#[$doc:meta])* $name:ident $fields:tt: {
        kind: $kind:expr,
        of: $numbers:pat,
        mean: $mean:expr,
        variance: $variance:expr,
        scales: $scales:expr,
        law: $law:expr,
        tails: $tails:expr,
    })*} {$($(#[$tabled_doc:meta])* $tabled:ident $tabled_fields:tt: {
        of: $tabled_numbers:pat,
        mean: $tabled_mean:expr,
        variance: $tabled_variance:expr,
        check: $check:expr,
        tails: $tabled_tails:expr,
        example: $example:expr,
    })*}) => {
        /// A distribution of times, in the network's unit of time.
        ///
        /// In a file, one of its names with its parameters: `{ exponential = 1.5 }`, `{ uniform =
        /// [1.0, 2.0] }`, `{ erlang = { stages = 3, mean = 2.0 } }`.
        #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase", deny_unknown_fields)]
        #[non_exhaustive]
        pub enum Distribution {
            $($(#[$doc])* $name $fields,)*
            $($(#[$tabled_doc])* $tabled $tabled_fields,)*
        }

        /// All kinds, in the order of their numbers.
        pub(crate) const KINDS: &[Kind] = &[$($kind,)* TABLE];

        impl Distribution {
            pub(in crate::facility) fn kind(&self) -> u32 {
                match self {
                    $(Self::$name { .. } => const { $kind.number },)*
                    $(Self::$tabled { .. } => TABLE.number,)*
                }
            }

            /// One of each kind that is drawn from a table.
            fn tabled_examples() -> Vec<Self> {
                vec![$($example),*]
            }

            /// The mean, in the network's unit.
            #[expect(unused_variables, reason = "a row takes the numbers that it needs")]
            pub fn mean(&self) -> f64 {
                match *self {
                    $($numbers => $mean,)*
                    $($tabled_numbers => $tabled_mean,)*
                }
            }

            /// The variance, in the network's unit squared.
            #[expect(unused_variables, reason = "a row takes the numbers that it needs")]
            pub fn variance(&self) -> f64 {
                match *self {
                    $($numbers => $variance,)*
                    $($tabled_numbers => $tabled_variance,)*
                }
            }

            /// The times that have to be many ticks long for draws to be accurate.
            #[expect(unused_variables, reason = "a row takes the numbers that it needs")]
            pub(in crate::facility) fn scales(&self) -> [Option<f64>; 2] {
                match *self {
                    $($numbers => $scales,)*
                    $(Self::$tabled { .. } => [Some(self.mean()), None],)*
                }
            }

            #[expect(unused_variables, reason = "a row takes the numbers that it needs")]
            fn law(&self, to: &Coder) -> Result<Law, String> {
                match *self {
                    $($numbers => to.law($law),)*
                    $($tabled_numbers => {
                        to.checked($check)?;
                        Ok(self.made(to.scale)?.law())
                    })*
                }
            }

            /// The tails of its distribution function, at times in the network's unit.
            #[expect(unused_variables, reason = "a row takes the numbers that it needs")]
            pub(in crate::facility) fn tails(&self) -> Tails {
                match *self {
                    $($numbers => Box::new($tails),)*
                    $($tabled_numbers => Box::new($tabled_tails),)*
                }
            }
        }
    };
}
