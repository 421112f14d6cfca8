//! The macro that makes [`Fact`](super::Fact) and [`FindingKind`](super::FindingKind) of one list.

// The kinds are one list, so a kind without a name, subject, command or headline does not compile,
// and JSON documents cannot lack a field.
macro_rules! facts {
    ($(
        $(#[$about:meta])*
        $kind:ident $name:literal of $subject:literal, see $command:literal {
            numbers { $( $(#[$number_about:meta])* $number:ident: $number_type:ty, )+ }
            $( about { $( $(#[$detail_about:meta])* $detail:ident: $detail_type:ty, )+ } )?
        }
    )+) => {
        /// A notable fact about a trace. The first number of each kind is its headline.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Fact {
            $(
                $(#[$about])*
                #[non_exhaustive]
                $kind {
                    $( $(#[$number_about])* $number: $number_type, )+
                    $($( $(#[$detail_about])* $detail: $detail_type, )+)?
                },
            )+
        }

        /// The kind of a [`Fact`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum FindingKind {
            $( $(#[$about])* $kind, )+
        }

        impl FindingKind {
            /// All kinds.
            pub const ALL: &[FindingKind] = &[$( FindingKind::$kind, )+];

            /// Returns the name in JSON documents.
            pub const fn name(self) -> &'static str {
                match self {
                    $( FindingKind::$kind => $name, )+
                }
            }

            /// Returns the subject of the kind, such as `gc`. Several kinds may have one subject.
            pub const fn subject(self) -> &'static str {
                match self {
                    $( FindingKind::$kind => $subject, )+
                }
            }

            /// Returns the command that shows more, such as `report gc`, without `nettrace` and the
            /// trace's name.
            pub const fn command(self) -> &'static str {
                match self {
                    $( FindingKind::$kind => $command, )+
                }
            }
        }

        impl Fact {
            /// Returns the kind of the fact.
            pub const fn kind(&self) -> FindingKind {
                match self {
                    $( Fact::$kind { .. } => FindingKind::$kind, )+
                }
            }

            /// Returns all numbers with their names, the headline first.
            pub fn numbers(&self) -> Vec<(&'static str, &Number)> {
                match self {
                    $( Fact::$kind { $( $number, )+ .. } => {
                        let all = [$( (stringify!($number), Option::<&Number>::from($number)), )+];
                        let known = all.into_iter().filter_map(|(name, it)| Some((name, it?)));
                        known.collect()
                    } )+
                }
            }

            /// Writes the fields of the `about` part, except for `place`, as members of a map.
            #[cfg(feature = "serde")]
            pub(crate) fn write_details<M: serde::ser::SerializeMap>(
                &self,
                map: &mut M,
            ) -> Result<(), M::Error> {
                match self {
                    $( Fact::$kind { $($( $detail, )+)? .. } => {
                        // `Finding` writes the place, because its member has another name.
                        $($( if stringify!($detail) != "place" {
                            map.serialize_entry(stringify!($detail), $detail)?;
                        } )+)?
                    } )+
                }
                Ok(())
            }
        }
    };
}
