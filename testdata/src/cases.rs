//! How much tests try of what is drawn at random.

/// The cases that a test tries: `usual`, or in proportion to `PROPTEST_CASES`, of which 256
/// are usual. So one variable makes all such tests more thorough.
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
