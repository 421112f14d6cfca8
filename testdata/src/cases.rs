//! Decides how many random cases a test has.

/// Returns the number of random cases of a test: `usual`, or `usual` × `PROPTEST_CASES` / 256 if
/// that variable is set. One variable thus makes all random tests more thorough.
///
/// ```
/// # if std::env::var_os("PROPTEST_CASES").is_none() {
/// assert_eq!(nettrace_testdata::cases(48), 48);
/// # }
/// ```
///
/// # Panics
/// If `PROPTEST_CASES` is not a number.
pub fn cases(usual: u32) -> u32 {
    const USUAL: u64 = 256;
    let Ok(asked) = std::env::var("PROPTEST_CASES") else { return usual };
    let asked: u64 = asked.parse().expect("PROPTEST_CASES is a number");
    let cases = u64::from(usual) * asked / USUAL;
    u32::try_from(cases).unwrap_or(u32::MAX).max(1)
}
