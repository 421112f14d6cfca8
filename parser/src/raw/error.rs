//! Error types that the parsers can return.

use crate::error::{Fault, FaultAt};
use crate::primitive::Parsed;
use nom::error::{ErrorKind, FromExternalError, ParseError};
use nom::{Err, IResult, Needed};

/// What the functions of [`raw`](crate::raw) require of an error type: nom's own trait
/// for errors, and a conversion from [`Fault`].
///
/// Every type with both traits implements this one: [`FaultAt`], which keeps the fault;
/// nom's [`Error`](nom::error::Error), `(I, ErrorKind)` and `()`, which keep less;
/// nom-language's `VerboseError`; and your own:
///
/// ```
/// use nettrace_parser::{Fault, raw};
/// use nom::error::{ErrorKind, FromExternalError, ParseError};
///
/// #[derive(Debug, PartialEq)]
/// struct Oops(String);
///
/// impl<'a> ParseError<&'a [u8]> for Oops {
///     fn from_error_kind(_: &'a [u8], kind: ErrorKind) -> Oops { Oops(format!("{kind:?}")) }
///     fn append(_: &'a [u8], _: ErrorKind, other: Oops) -> Oops { other }
/// }
/// impl<'a> FromExternalError<&'a [u8], Fault> for Oops {
///     fn from_external_error(_: &'a [u8], _: ErrorKind, fault: Fault) -> Oops { Oops(fault.to_string()) }
/// }
///
/// let error = raw::varuint32::<Oops>(&[0x80]).unwrap_err();
/// assert_eq!(error, nom::Err::Error(Oops("the bytes end too early".into())));
/// ```
pub trait FromFault<'a>: ParseError<&'a [u8]> + FromExternalError<&'a [u8], Fault> {}

impl<'a, E: ParseError<&'a [u8]> + FromExternalError<&'a [u8], Fault>> FromFault<'a> for E {}

/// The kind of error that nom would call a fault.
fn kind_of(fault: Fault) -> ErrorKind {
    match fault {
        Fault::Truncated | Fault::HeaderTruncated => ErrorKind::Eof,
        Fault::VarintTooLong | Fault::VarintOverflow => ErrorKind::TooLarge,
        Fault::Tag { .. } | Fault::Foreign(_) | Fault::FastSerializationHeader => ErrorKind::Tag,
        Fault::UnknownEntry(_) | Fault::TypeCode(_) | Fault::FirstIsNotTrace => ErrorKind::Switch,
        Fault::TypeDepth | Fault::FieldLimit => ErrorKind::TooLarge,
        Fault::Count { .. } => ErrorKind::Count,
        Fault::NameLength(_)
        | Fault::BlockSize(_)
        | Fault::HeaderSize(_)
        | Fault::RowSize(_)
        | Fault::PayloadSize(_)
        | Fault::StackSize(_)
        | Fault::TagSize(_) => ErrorKind::LengthValue,
        _ => ErrorKind::Verify,
    }
}

fn raised<'a, E: FromFault<'a>>(at: FaultAt<'a>) -> E {
    E::from_external_error(at.rest, kind_of(at.fault), at.fault)
}

/// Converts a result of this crate's own parsers to the caller's error type. For parsers
/// that are given complete input: missing bytes are an error.
pub(super) fn complete<'a, T, E: FromFault<'a>>(result: Parsed<'a, T>) -> IResult<&'a [u8], T, E> {
    result.map_err(|error| error.map(raised))
}

/// The same for parsers of framing: if bytes are missing, at least one more is needed.
pub(super) fn streaming<'a, T, E: FromFault<'a>>(result: Parsed<'a, T>) -> IResult<&'a [u8], T, E> {
    match result {
        Err(Err::Error(at) | Err::Failure(at)) if at.fault == Fault::Truncated => need(1),
        result => complete(result),
    }
}

/// This many more bytes are needed.
pub(super) fn need<'a, T, E>(bytes: usize) -> IResult<&'a [u8], T, E> {
    Err(Err::Incomplete(Needed::new(bytes.max(1))))
}
